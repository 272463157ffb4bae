"""The commands, a room for each kind of question (:mod:`epsilens.cli.app` lists them), and what stops one from outside:
a key, a closed terminal, the system. One line is said, and no traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

_WORDS = {
    getattr(signal, name): words
    for name, words in {
        "SIGINT": "stopped from the keyboard",
        "SIGTERM": "stopped by SIGTERM",
        "SIGHUP": "stopped by SIGHUP, the terminal was closed",
    }.items()
    if hasattr(signal, name)  # Windows has no terminal that hangs up
}


class StopSignal:
    """What a signal does. Before the command runs it ends the process: imports have nothing to clean up, and an error
    in the midst of one surfaces as any other. While it runs, it interrupts; a second time, it ends the process.
    """

    def __init__(self) -> None:
        self.running = self.seen = False
        self.number = signal.SIGINT

    @property
    def words(self) -> str:
        return _WORDS[self.number]

    @property
    def code(self) -> int:
        """The exit code, as shells count: 130 from the keyboard."""
        return 128 + self.number

    def listen(self) -> None:
        """Be told of each signal that ends a command; what was ignored when it started (``nohup``) stays ignored."""
        if threading.current_thread() is threading.main_thread():
            for number in _WORDS:
                if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, self)

    def ignore(self) -> None:
        """Nothing is left but the end of the process."""
        if threading.current_thread() is threading.main_thread():
            for number in _WORDS:
                signal.signal(number, signal.SIG_IGN)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.seen:
            self.number = signal.Signals(number)
        if self.running and not self.seen:
            self.seen = True
            raise KeyboardInterrupt
        if sys.stderr is not None and not self.seen:
            os.write(2, f"epsilens: {self.words}\n".encode())
        os._exit(self.code)


#: Of this process.
STOP = StopSignal()
