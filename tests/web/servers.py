"""A real server in a process of its own, with a temporary folder of its own, and clients that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

SOURCE = str(Path(__file__).parents[2] / "src")
#: ``serve`` with other limits than its own.
_CODE = """
import sys
import epsilens.web.app as app
from epsilens.web.limits import ServerLimits
create = app.create_app
app.create_app = lambda host: create(host, ServerLimits({limits}))
from epsilens.cli.app import serve
from epsilens.web.app import Connection
Connection.head_seconds = 1.0
serve(port=0, host={host!r})
"""


def awaited(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a coroutine gives, run where no loop runs: a browser test leaves one running in its own thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


class Server:
    """A running server: its port, its process, its temporary folder and what it wrote to its log."""

    def __init__(self, temporary: Path, host: str = "127.0.0.1", **limits: Any) -> None:
        self.temporary = temporary
        temporary.mkdir(exist_ok=True)
        code = _CODE.format(limits=", ".join(f"{k}={v!r}" for k, v in limits.items()), host=host)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1", "PATH": "/usr/bin:/bin", "TMPDIR": str(temporary)},
        )  # fmt: skip
        self.log = ""
        assert self.process.stdout is not None
        threading.Thread(target=self._read, daemon=True).start()
        self.said = self.process.stdout.readline()
        url = next(word for word in self.said.split() if word.startswith("http://"))
        self.host, _, port = url.removeprefix("http://").rstrip("/").rpartition(":")
        self.port = int(port)
        until(self._answers)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "/help")[0] == 200
        except OSError:
            return False

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer."""
        connection = http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()

    def upload(self, data: bytes, name: str = "people.csv", **headers: str) -> tuple[dict[str, Any], str]:
        """What a script is told about an upload, and the cookie it was given."""
        kind = {"content_type": "multipart/form-data; boundary=x", "accept": "application/json", **headers}
        _, sent, text = self.ask("POST", "/assess/file", start_of(name) + data + b"\r\n--x--\r\n", **kind)
        return json.loads(text), sent.get("set-cookie", "").partition(";")[0]

    def begun(self, length: int, data: bytes, name: str = "people.csv") -> socket.socket:
        """A connection on which an upload was begun and not finished."""
        made = socket.create_connection((self.host.strip("[]"), self.port), timeout=120)
        head = (
            f"POST /assess/file HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {length}\r\n"
            "Accept: application/json\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n"
        )
        made.sendall(head.encode() + start_of(name) + data)
        return made

    def files(self) -> list[Path]:
        """What lies in its temporary folder."""
        with contextlib.suppress(OSError):
            return [path for path in self.temporary.rglob("*") if path.is_file() and path.name != ".lock"]
        return []

    def workers(self) -> list[int]:
        """The processes it started, by number."""
        listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
        lines = [line.split(None, 2) for line in listed.stdout.splitlines()]
        ours = {int(line[0]): int(line[1]) for line in lines if "epsilens.web.worker" in line[-1]}
        sources = [process for process, parent in ours.items() if parent == self.process.pid]
        return sources + [process for process, parent in ours.items() if parent in sources]

    def stop(self) -> None:
        """Ask it to stop, and wait until it has."""
        self.process.terminate()
        assert self.process.wait(120) in (0, -15)  # uvicorn ends in order, and then by the signal it was sent


def told(connection: socket.socket) -> str:
    """What comes on a connection until it is closed."""
    text = b""
    while piece := connection.recv(10_000):
        text += piece
    return text.decode()


def start_of(name: str) -> bytes:
    """What stands before a file in a form."""
    return f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()


def until(condition: Any, seconds: float = 120) -> None:
    """Wait for something to come about."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.02)


def alive(process: int) -> bool:
    """Whether there is a process of this number that is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextlib.contextmanager
def server(temporary: Path, **more: Any) -> Iterator[Server]:
    """A server that is gone afterwards."""
    made = Server(temporary, **more)
    try:
        yield made
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(made.process.pid, 9)
        made.process.wait()
        for stream in (made.process.stdout, made.process.stderr):
            if stream is not None:
                with contextlib.suppress(ValueError):
                    stream.close()
