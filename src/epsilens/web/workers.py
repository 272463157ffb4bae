"""The processes that work on tables: one request each, a memory and a time of their own, one kept ready.

A process is started before it is needed, so that a request does not pay for the imports.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .limits import LOG_LINE, ServerLimits, log_line


class Worker:
    """One process: asked once, or again where that left it clean."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._late = False
        self.clean = True  # nothing of a request is left in it
        self.size = 0  # of its last answer, in bytes
        source = str(Path(__file__).resolve().parents[2])
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        allowed = int(limits.assess_seconds), limits.assess_memory
        self._process = subprocess.Popen(
            [sys.executable, "-m", "epsilens.web.worker", *map(str, allowed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        threading.Thread(target=self._overhear, daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, request: dict[str, Any], told: Callable[[int, int, str], None]) -> dict[str, Any]:
        """The answer; ``told`` hears how far it is. ``error`` and ``status`` stand for a refusal."""
        self.clean = False
        # What is released is assessed once more first.
        seconds = self._limits.assess_seconds * (2 if request["task"] == "release" else 1)
        clock = threading.Timer(seconds, self._stop_late)
        clock.start()
        try:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            while line := self._process.stdout.readline(self._limits.answer_bytes):
                said = json.loads(line)
                if "answer" in said:
                    self.clean, self.size = said["clean"], len(line)
                    made: dict[str, Any] = said["answer"]
                    return made
                told(*said["progress"])
        except (ValueError, OSError):
            pass
        finally:
            clock.cancel()
        if self._late:
            return {
                "error": f"this took longer than {seconds:g} seconds: try again, or use the command line",
                "status": 503,
            }
        return {
            "error": "the table needs more time or memory than the page allows: use the command line",
            "status": 413,
        }

    def _stop_late(self) -> None:
        self._late = True
        self.kill()

    def kill(self) -> None:
        """End it at once, whatever it does; who waits for its answer gets a refusal."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """End it, and let go of what it held."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _overhear(self) -> None:
        """Pass on what it says about errors, in our own words; whatever else it or a library writes may hold cells."""
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while line := stream.readline(10_000):
                text = line.decode("utf-8", "replace").strip()
                if LOG_LINE.fullmatch(text):
                    log_line(text)
        code = self._process.wait()
        if code < 0 and -code != signal.SIGKILL:
            log_line(f"a worker was ended by {signal.Signals(-code).name}")


class Workers:
    """Where processes come from, and where clean ones go back to."""

    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._spare: Worker | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the process that waits for the next request."""
        with self._lock:
            if self._spare is None and not self._closed:
                self._spare = Worker(self.limits)

    def close(self) -> None:
        """Stop the one that waits."""
        with self._lock:
            self._closed = True
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()

    def take(self) -> Worker:
        """A process to ask."""
        with self._lock:
            ready, self._spare = self._spare, None
        if ready is not None:
            if ready.alive:
                return ready
            ready.close()
        return Worker(self.limits)

    def give_back(self, worker: Worker) -> None:
        """Let a clean process wait for the next request; end any other, and start the next in its stead."""
        with self._lock:
            if worker.clean and worker.alive and self._spare is None and not self._closed:
                self._spare = worker
            kept = self._spare is worker
        if not kept:
            worker.close()
            threading.Thread(target=self.warm, daemon=True).start()
