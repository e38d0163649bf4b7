"""A ground system made of openc3's own parts; runs in an environment that has it, not with the other tests.

    python cosmos_peer.py PLUGIN PORT PACKETS

Reads the exported plugin, connects as its plugin.txt says, takes PACKETS packets from the gateway and reports every
item as a line of JSON; then sends the commands that come on standard input, [name, parameters] a line, until that ends,
and goes on reporting what comes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

from openc3.interfaces.tcpip_client_interface import TcpipClientInterface
from openc3.packets.commands import Commands
from openc3.packets.packet_config import PacketConfig
from openc3.packets.telemetry import Telemetry


class System:
    """What its packets ask the system for."""

    limits = None


OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what openc3 logs is no answer
_LOCK = threading.Lock()


def report(**what: object) -> None:
    with _LOCK:
        print(json.dumps(what), file=OUT, flush=True)


def main(folder: Path, port: int, count: int) -> None:
    (target,) = (each.name for each in (folder / "targets").iterdir())
    files = folder / "targets" / target
    config = PacketConfig()
    for name in ("tlm", "cmd"):
        config.process_file(str(files / "cmd_tlm" / f"{name}.txt"), target)
    telemetry, commands = Telemetry(config, System), Commands(config, System)
    report(warnings=config.warnings, commands=sorted(config.commands[target]))
    link = interface(folder / "plugin.txt", files / "lib", port)
    link.connect()
    for _ in range(count):
        take(link, telemetry, target)
    sender = threading.Thread(target=send, args=(link, commands, target))
    sender.start()
    while sender.is_alive():
        take(link, telemetry, target)
    link.disconnect()


def send(link: Any, commands: Any, target: str) -> None:
    """Send what comes on standard input."""
    for line in sys.stdin:
        name, parameters = json.loads(line)
        try:
            link.write(commands.build_cmd(target, name, parameters, True))
        except Exception as error:
            report(refused=str(error))


def interface(plugin: Path, library: Path, port: int) -> Any:
    """The interface of plugin.txt with its protocols."""
    values = {"target_name": "T", "gateway_host": "127.0.0.1", "gateway_port": str(port)}
    text = re.sub(r"<%= (\w+) %>", lambda found: values[found[1]], plugin.read_text())
    (given,) = re.findall(r"^INTERFACE (.*)$", text, re.M)
    _, kind, *options = given.split()
    assert kind == "openc3/interfaces/tcpip_client_interface.py"
    link = TcpipClientInterface(*options)
    (file,) = re.findall(r"^ *PROTOCOL WRITE (\S+)$", text, re.M)
    spec = importlib.util.spec_from_file_location(file.removesuffix(".py"), library / file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    link.add_protocol(module.TelecommandProtocol, [], "WRITE")
    return link


def take(link: Any, telemetry: Any, target: str) -> None:
    """Read, identify, convert and report one packet."""
    raw = link.read()
    packet = telemetry.identify_and_define_packet(raw, [target])
    if packet is None:
        report(unknown=raw.buffer.hex())
        return
    packet.check_limits("DEFAULT")
    items, limits = {}, {}
    for item in packet.sorted_items:
        value = packet.read_item(item, "CONVERTED")
        items[item.name] = value.hex() if isinstance(value, float) else str(value)
        if item.limits.state:
            limits[item.name] = item.limits.state
    units = {item.name: item.units for item in packet.sorted_items if item.units}
    report(packet=packet.packet_name, items=items, limits=limits, units=units)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
