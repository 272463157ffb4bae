"""The way into the command line: a signal stops it at any moment, with one line and no traceback."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from . import STOP


def main() -> None:
    STOP.listen()
    from .app import main as run

    STOP.running = True
    try:
        run()
    except SystemExit:
        if not STOP.seen:
            STOP.ignore()
            raise
        # Python would end by the signal instead, where a library has seen the interrupt before us.
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(STOP.code)


if __name__ == "__main__":
    main()
