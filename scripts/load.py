"""Put the page under load, and print what held: answers by status, times, and the memory before and after.

Usage::

    python -m scripts.load                          # 200 at once, 5,000 in a row, slow clients, bombs, dead processes
    python -m scripts.load --at-once 50 --in-a-row 500

A real server in a process of its own is asked over sockets. What must hold: every request gets an answer that is no
500, the page answers after each part, and the memory at the end is what it was after the first part.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.web.servers import Server, server, start_of

QUICK = (
    "/explain?mechanism=laplace&epsilon=1", "/api/explain?mechanism=gaussian&sigma=1.5", "/help", "/api/tables",
    "/choose?mechanism=laplace&reading=success&at_most=0.6", "/api/choose?mechanism=pure&reading=auc&at_most=0.7",
    "/compare?a=laplace:epsilon=1&b=gaussian:psi=1", "/assess", "/notions", "/assets/page.css",
)  # fmt: skip
HEAVY = (
    "/api/explain?mechanism=dpsgd&sigma=1&rate=0.01&steps=1000", "/api/explain?mechanism=geometric&epsilon=0.7",
    "/explain?mechanism=banded&sigma=1&rate=0.01&bands=10&steps=1000", "/api/explain?mechanism=nothing",
    "/api/choose?mechanism=dpsgd&rate=0.01&steps=500&reading=success&at_most=0.6",
    "/explain?mechanism=discrete-gaussian",
)  # fmt: skip


def ask(made: Server, path: str) -> tuple[int, float]:
    """Status and seconds; 0 where there was no answer."""
    began = time.monotonic()
    try:
        return made.ask("GET", path)[0], time.monotonic() - began
    except OSError:
        return 0, time.monotonic() - began


def memory(made: Server) -> dict[str, float]:
    """Megabytes of the server, and of all processes it started, by what they share (PSS)."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split()
    pairs = list(zip(map(int, listed[::2]), map(int, listed[1::2]), strict=True))
    family = {made.process.pid}
    while True:
        more = {pid for pid, parent in pairs if parent in family} - family
        if not more:
            break
        family |= more
    return {"server": _pss(made.process.pid), "all": sum(map(_pss, family)), "processes": float(len(family))}


def _pss(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000
    except (OSError, StopIteration):
        return 0.0


def told(part: str, made: Server, answers: list[tuple[int, float]]) -> bool:
    """Print a part; whether it held."""
    held = {k: round(v) for k, v in memory(made).items()}
    counts = dict(sorted(Counter(status for status, _ in answers).items()))
    times = sorted(seconds for _, seconds in answers) or [0.0]
    late = times[min(int(0.95 * len(times)), len(times) - 1)]
    alive = ask(made, QUICK[0])
    fine = alive[0] == 200 and 500 not in counts and 0 not in counts
    print(
        f"{part}: {len(answers)} requests, {counts}, median {statistics.median(times) * 1e3:.0f} ms, p95 "
        f"{late * 1e3:.0f} ms, slowest {times[-1]:.1f} s; then a page in {alive[1] * 1e3:.0f} ms; MB {held}"
        f"{'' if fine else '   DID NOT HOLD'}",
        flush=True,
    )
    return fine


def _packed() -> bytes:
    """More than a gigabyte in a few megabytes: many whole files of gzip are one."""
    return gzip.compress(b"1,2\n" * 5_000_000, 9) * 60


def bombs() -> dict[str, bytes]:
    """Uploads that unpack, widen or nest into far more than they are."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", b"0" * 50_000_000)
    wide = ",".join(f"c{i}" for i in range(50_000)) + "\n" + ",".join("1" for _ in range(50_000)) + "\n"
    return {
        "people.csv.gz": _packed(),
        "people.xlsx": zipped.getvalue(),
        "people.parquet": b"PAR1" + os.urandom(1000) + b"\xff\xff\xff\x7fPAR1",
        "wide.csv": wide.encode(),
        "long.csv": b"a\n" + b"x" * 20_000_000,
        "quotes.csv": b'a,b\n"' + b"1,2\n" * 100_000,
        "zeros.csv": bytes(5_000_000),
    }


_YAMLS = ("[" * 40_000, "a: &a [x]\nb: " + "*a " * 9_000, "{a: " * 9_000, "- " * 20_000, "a: 1" + ":59" * 15_000)


def main() -> int:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--in-a-row", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "tmp", pause_seconds=3.0) as made:
        ask(made, HEAVY[0])
        fine = [told("one", made, [ask(made, QUICK[0])])]
        with ThreadPoolExecutor(given.at_once) as many:
            mixed = [(QUICK * 3 + HEAVY)[i % (3 * len(QUICK) + len(HEAVY))] for i in range(given.at_once)]
            fine.append(told("at once", made, list(many.map(lambda path: ask(made, path), mixed))))
        before = memory(made)
        fine.append(told("in a row", made, [ask(made, (*QUICK, HEAVY[1])[i % 11]) for i in range(given.in_a_row)]))
        fine.append(told("slow clients", made, _slow(made)))
        fine.append(told("bombs", made, _bombed(made)))
        fine.append(told("killed", made, _killed(made)))
        after = memory(made)
    flat = after["server"] < 1.3 * before["server"] + 30
    print(f"the server's memory: {before['server']:.0f} MB after the first part, {after['server']:.0f} MB at the end")
    return 0 if all(fine) and flat else 1


def _slow(made: Server) -> list[tuple[int, float]]:
    """Connections that send half of a head or a body and then nothing; meanwhile others are answered."""
    halves = [made.begun(1_000_000, b"a,b\n" * 100) for _ in range(20)]
    for _ in range(30):
        silent = socket.create_connection(("127.0.0.1", made.port))
        silent.sendall(b"GET /explain HTTP/1.1\r\nHos")
        halves.append(silent)
    answers = [ask(made, QUICK[i % len(QUICK)]) for i in range(50)]
    for half in halves:
        half.close()
    return answers


def _bombed(made: Server) -> list[tuple[int, float]]:
    answers = []
    kind = {"content_type": "multipart/form-data; boundary=x", "accept": "application/json"}
    for name, data in bombs().items():
        began = time.monotonic()
        status = made.ask("POST", "/assess/file", start_of(name) + data + b"\r\n--x--\r\n", **kind)[0]
        answers.append((status, time.monotonic() - began))
    for text in _YAMLS:
        for address, body in (("/api/assess", text.encode()), ("/assess", f"yaml={text}".encode())):
            began = time.monotonic()
            form = "application/yaml" if address.startswith("/api") else "application/x-www-form-urlencoded"
            answers.append((made.ask("POST", address, body, content_type=form)[0], time.monotonic() - began))
    return answers


def _killed(made: Server) -> list[tuple[int, float]]:
    """End every process the server started, while requests are under way."""
    with ThreadPoolExecutor(8) as many:
        coming = [many.submit(ask, made, HEAVY[i % len(HEAVY)]) for i in range(16)]
        time.sleep(0.5)
        for process in made.workers():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return [each.result() for each in coming] + [ask(made, path) for path in HEAVY]


if __name__ == "__main__":
    sys.exit(main())
