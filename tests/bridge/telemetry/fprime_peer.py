"""A ground system made of fprime-gds' own parts; runs in an environment that has it, not with the other tests.

    python fprime_peer.py DICTIONARY.json FRAMES

Listens at a free port of loopback (printed on standard output) and takes FRAMES frames of packets and events; then
sends the commands that come on standard input, a line of JSON each, [name, arguments], until that ends. Everything
decoded goes to standard output as JSON lines.
"""

from __future__ import annotations

import json
import socket
import sys

from fprime_gds.common.communication.framing import FpFramerDeframer
from fprime_gds.common.data_types.cmd_data import CmdData
from fprime_gds.common.decoders.event_decoder import EventDecoder
from fprime_gds.common.decoders.pkt_decoder import PktDecoder
from fprime_gds.common.encoders.cmd_encoder import CmdEncoder
from fprime_gds.common.loaders.ch_json_loader import ChJsonLoader
from fprime_gds.common.loaders.cmd_json_loader import CmdJsonLoader
from fprime_gds.common.loaders.event_json_loader import EventJsonLoader
from fprime_gds.common.loaders.pkt_json_loader import PktJsonLoader
from fprime_gds.common.loaders.type_json_loader import TypeJsonLoader

WAIT_S = 60.0


def report(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main(path: str, count: int) -> None:
    TypeJsonLoader(path).get_name_dict(path)
    channels = ChJsonLoader(path)
    packets = PktJsonLoader(path)
    (packet_set,) = packets.get_packet_set_names(path)
    by_id = packets.get_id_dict(path, packet_set, channels.get_name_dict(path))
    decoders = {
        4: PktDecoder(by_id, channels.get_id_dict(path)),
        2: EventDecoder(EventJsonLoader(path).get_id_dict(path)),
    }
    limits = {
        name: [each.get_low_red(), each.get_low_yellow(), each.get_high_yellow(), each.get_high_red()]
        for name, each in channels.get_name_dict(path).items()
    }
    commands = CmdJsonLoader(path).get_name_dict(path)
    listener = socket.create_server(("127.0.0.1", 0))
    report(port=listener.getsockname()[1], limits=limits, commands=sorted(commands))
    listener.settimeout(WAIT_S)
    link = listener.accept()[0]
    link.settimeout(WAIT_S)
    link.sendall(b"sitting well")  # the keep-alive of its IpAdapter, which is no frame
    framing = FpFramerDeframer("crc32")
    take(link, framing, decoders, count)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        data = CmdEncoder().encode_api(CmdData(tuple(arguments), commands[name]))
        link.sendall(framing.frame(data[8:]))  # as its uplink does: without what is for its own transport
    link.close()


def take(link: socket.socket, framing: FpFramerDeframer, decoders: dict, count: int) -> None:
    """Decode and report so many frames."""
    pool, taken = b"", 0
    while taken < count:
        pool += link.recv(65536)
        frames, pool, discarded = framing.deframe_all(pool, no_copy=True)
        if discarded:
            report(discarded=len(discarded))
        for frame in frames[: count - taken]:
            taken += 1
            descriptor = int.from_bytes(frame[:2], "big")
            for each in decoders[descriptor].decode_api(frame[2:]):
                stamp = [each.time.seconds, each.time.useconds]
                if descriptor == 4:
                    report(channel=each.template.get_full_name(), value=each.val_obj.val.hex(), time=stamp)
                else:
                    text = each.get_display_text()
                    report(
                        event=each.template.get_full_name(), text=text, severity=each.get_severity().name, time=stamp
                    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
