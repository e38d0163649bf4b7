"""The commands for those who connect a controller of their own: messages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.commands.parsing import command


def _messages(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.messages import messages

        messages(options.scenario, options.device, options.out)

    text = (
        "what a scenario's devices are sent and send, byte by byte with units, or, with -o, code for C or MATLAB and "
        "Octave that reads and writes it; see docs/devices.md"
    )
    parser = command(commands, "messages", work, text)
    parser.add_argument("scenario", type=Path, metavar="SCENARIO", help="scenario (.yaml)")
    parser.add_argument("--device", metavar="NAME", help="which device (default: all; of -o the only one)")
    text = "file to write: a header in C (.h), or functions for MATLAB and Octave (<device>_messages.m)"
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help=text)


CONTROLLER_COMMANDS = (_messages,)
