"""Assessments, each in a process of its own, which can be stopped and has little to spend.

``python -m epsilens.web.worker`` imports what an assessment needs, reads one request from standard input, answers with
one JSON object on standard output and ends; one that read no table and keeps nothing (other shares of a report) waits
for the next. The parent keeps one such process waiting, so that a request does not pay for the imports: see
:class:`Workers`.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Any

from ..errors import EpsilensError, InputError
from .security import Limits
from .shares import carried, shown

__all__ = ["Workers", "answer", "main"]

#: Tasks after which a process is as it was before.
_CLEAN = ("shares",)
_TOO_LARGE = {"error": "the table needs more memory than the page allows: use the command line", "status": 413}


def main() -> None:
    """Wait for a request and answer it, until one has read a table."""
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not end up inside the answer
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    _limit_memory(memory)
    _limit_time(seconds)
    _import()
    for text in sys.stdin:
        request = json.loads(text)
        tempfile.tempdir = request["folder"]
        _limit_time(seconds)
        json.dump(answer(request), result, allow_nan=False)
        result.write("\n")
        result.flush()
        if request["task"] not in _CLEAN:
            os._exit(0)  # engines leave threads behind that would delay the end


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows; the parent still stops us by the clock
        return
    # Data, not address space: JavaScript engines reserve far more addresses than they use.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: int) -> None:
    """What the next request may take, on top of what was used so far."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return
    used, hard = resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = int(used.ru_utime + used.ru_stime) + seconds * (os.cpu_count() or 1) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _import() -> None:
    """What every assessment imports anyway, while nobody waits for it."""
    with contextlib.suppress(ImportError):
        import duckdb  # noqa: F401
        import ibis  # noqa: F401

        from ..assessment import assessment as assessing  # noqa: F401
        from ..show.assessment import report  # noqa: F401
        from ..show.render import html  # noqa: F401


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request: ``task`` is columns, assess or shares. An error is a sentence under ``error``."""
    try:
        path = request.get("table")
        if path:
            _check_unpacked(Path(path), request["unpacked"])
        return {"columns": _columns, "assess": _assess, "shares": shown}[request["task"]](request)
    except EpsilensError as error:
        about = error.parameter if isinstance(error, InputError) else ""
        return {"error": _without(str(error), request), "status": 422, "parameter": about}
    except MemoryError:
        return _TOO_LARGE
    except Exception as error:
        # Whatever it was, the reader gets a sentence and no path of this machine; the log gets the kind of error only.
        sys.stderr.write(f"epsilens: an assessment failed with {type(error).__name__}\n")
        if "memory" in str(error).lower():
            return _TOO_LARGE
        return {
            "error": "this could not be computed: check the table and the release, or use the command line",
            "status": 422,
        }


def _without(sentence: str, request: dict[str, Any]) -> str:
    """The sentence with the name of the upload instead of where it lies for a moment."""
    path = request.get("table")
    return sentence.replace(str(path), str(request.get("name") or "upload")) if path else sentence


def _check_unpacked(path: Path, most: int) -> None:
    if path.suffix.lower() != ".gz":
        return
    size = 0
    try:
        with gzip.open(path) as file:
            while block := file.read(1 << 20):
                size += len(block)
                if size > most:
                    raise InputError(
                        f"the file unpacks to more than {most / 1e9:g} GB: use the command line", parameter="table"
                    )
    except (OSError, EOFError, zlib.error):
        raise InputError(
            "the file is not a whole gzip file: give a CSV, a gzipped CSV or Parquet", parameter="table"
        ) from None


def _columns(request: dict[str, Any]) -> dict[str, Any]:
    from ..data.tables.open import open_table

    with open_table(request["table"]) as opened:
        schema = opened.table.schema()
        return {"columns": [[str(name), str(kind)] for name, kind in schema.items()]}


def _assess(request: dict[str, Any]) -> dict[str, Any]:
    from ..assessment.assessment import assess
    from ..plan.file import read_release
    from ..show.assessment.report import present
    from ..show.assessment.split import HEADING
    from ..show.document import Forms
    from ..show.render import html

    # The line break says that this is YAML: without one the library would take it for the name of a file.
    made = assess(read_release(request["yaml"] + "\n"), table=request.get("table"))
    document = present(made)
    parts = html.sections(document)
    packed = carried(made)
    # The sliders stand after the section they are about.
    headings = [section.heading for section in document.sections if Forms.PAGE in section.forms]
    at = len(parts) - len(headings) + headings.index(HEADING) + 1 if HEADING in headings else len(parts)
    return {
        "data": made.to_dict(),
        "fragment": "\n".join(parts[:at]),
        "rest": "\n".join(parts[at:]),
        "html": html.page(document, parts),
        "basis": packed,
        "panel": shown({"yaml": request["yaml"], "basis": packed}) if packed else None,
    }


class Workers:
    """The processes that assess: few at a time, one request each, one kept ready.

    Answers are dictionaries; ``error`` and ``status`` stand for a refusal.
    """

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
        allowed = int(self.limits.assess_seconds), self.limits.assess_memory
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            [sys.executable, "-m", "epsilens.web.worker", *map(str, allowed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def _ask(self, process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
        seconds, late = self.limits.assess_seconds, threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(seconds, stop)
        clock.start()
        clean = False
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            made: dict[str, Any] = json.loads(process.stdout.readline())
            clean = request["task"] in _CLEAN and "error" not in made
            return made
        except (ValueError, OSError):
            if late.is_set():
                return {"error": f"this took longer than {seconds:g} seconds: use the command line", "status": 503}
            return {
                "error": "the table needs more time or memory than the page allows: use the command line",
                "status": 413,
            }
        finally:
            clock.cancel()
            if not (clean and self._returned(process)):
                _stop(process)

    def _returned(self, process: subprocess.Popen[str]) -> bool:
        """Let a process wait for the next request, unless another one does."""
        with self._lock:
            if self._spare is None and not self._closed:
                self._spare = process
            return self._spare is process


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


if __name__ == "__main__":
    main()
