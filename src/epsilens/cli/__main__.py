"""The way into the command line: a key stops it at any moment, with one line and no traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType

__all__ = ["main"]

_INTERRUPTED = 130


class _Stop:
    """What a key does. Before the command runs it ends the process: imports have nothing to clean up, and an error in
    the midst of one surfaces as any other. While it runs, it interrupts; a second time, it ends the process.
    """

    def __init__(self) -> None:
        self.running = self.seen = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.running and not self.seen:
            self.seen = True
            raise KeyboardInterrupt
        if sys.stderr is not None and not self.seen:
            os.write(2, b"epsilens: stopped from the keyboard\n")
        os._exit(_INTERRUPTED)


def main() -> None:
    """Run the command line and exit with its code."""
    stop = _Stop()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, stop)
    from .app import main as run

    stop.running = True
    try:
        run()
    except SystemExit:
        if not stop.seen:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left but the end of the process
            raise
        # Python would end by the signal instead, where a library has seen the interrupt before us.
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
