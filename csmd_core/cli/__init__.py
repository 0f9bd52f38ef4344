"""The command line: parses first, and imports what a command needs only when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from csmd_core.cli.parser import make_parser
from csmd_core.faults import BadInput

HOLDS, FAILS, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = make_parser().parse_args(argv)
    commands = import_module("csmd_core.cli.commands")  # seconds of imports that --help spares
    try:
        return int(getattr(commands, args.command)(args))
    except BadInput as bad:
        return _tell("\n".join(str(fault) for fault in bad.faults))
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # such as `| head`: nobody reads on
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return HOLDS
        where = f" '{error.filename}'" if error.filename else ""
        return _tell(f"The file or folder{where} cannot be used: {error.strerror or error}.")
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def _tell(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return BAD_INPUT
