"""The processes that assess: few at a time, each with its seconds and its memory, one kept ready."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from .limits import Limits

__all__ = ["Workers"]


class Workers:
    """Runs one request a process. Answers are dictionaries; ``error`` and ``status`` stand for a refusal."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._places = threading.BoundedSemaphore(limits.assessments)
        self._lock = threading.Lock()
        self._spare: subprocess.Popen[str] | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the process that waits for the next request."""
        with self._lock:
            if self._spare is None and not self._closed:
                self._spare = self._start()

    def close(self) -> None:
        """Stop the one that waits."""
        with self._lock:
            self._closed = True
            spare, self._spare = self._spare, None
        if spare is not None:
            _stop(spare)

    def run(self, task: str, folder: Path, **more: Any) -> dict[str, Any]:
        """The answer to a task, whose temporary files live in ``folder``."""
        if not self._places.acquire(blocking=False):
            n = self.limits.assessments
            return {"error": f"{n} assessments are being computed already: try again in a moment", "status": 503}
        try:
            request = {"task": task, "folder": str(folder), "unpacked": self.limits.unpacked_bytes, **more}
            return self._ask(self._take(), request)
        finally:
            self._places.release()
            threading.Thread(target=self.warm, daemon=True).start()

    def _take(self) -> subprocess.Popen[str]:
        with self._lock:
            ready, self._spare = self._spare, None
        if ready is not None and ready.poll() is None:
            return ready
        return self._start()

    def _start(self) -> subprocess.Popen[str]:
        source = str(Path(__file__).resolve().parents[2])
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "epsilens.web.worker",
                str(int(self.limits.assess_seconds)),
                str(self.limits.assess_memory),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def _ask(self, process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
        seconds = self.limits.assess_seconds
        try:
            out, _ = process.communicate(json.dumps(request) + "\n", timeout=seconds)
            made: dict[str, Any] = json.loads(out)
            return made
        except subprocess.TimeoutExpired:
            return {"error": f"this took longer than {seconds:g} seconds: use the command line", "status": 503}
        except (ValueError, OSError):
            return {
                "error": "the table needs more time or memory than the page allows: use the command line",
                "status": 413,
            }
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
