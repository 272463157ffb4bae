"""A PostgreSQL server of its own for the tests: Debian's binaries in a temporary folder, gone with the run."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote


def why_no_postgres() -> str | None:
    if not binaries():
        return "PostgreSQL's server is not installed"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    return None


def binaries() -> Path | None:
    """The folder of the newest server that Debian has installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@dataclass(frozen=True)
class Server:
    """Where it listens: a socket in its folder, and a port of this machine."""

    folder: Path
    port: int

    def url(self, table: str = "", *, tcp: bool = False) -> str:
        """The address as a user would write it."""
        where = "epsilens@localhost" if tcp else "epsilens@"
        port = f":{self.port}" if tcp else ""
        rest = "" if tcp else f"?host={quote(str(self.folder), safe='')}&port={self.port}"
        return f"postgres://{where}{port}/postgres{rest}" + (f"#{table}" if table else "")

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(
            host=str(self.folder), port=self.port, user="epsilens", dbname="postgres", autocommit=True
        )


@contextmanager
def running() -> Iterator[Server]:
    """A server that sorts text as English does, so that nothing can rely on the order of bytes."""
    found = binaries()
    assert found is not None
    # Not "epsilens-…": such folders are taken for ours and swept.
    folder = Path(tempfile.mkdtemp(prefix="pg-of-epsilens-", dir="/tmp"))
    whose = _unprivileged()
    process = None
    try:
        if whose is not None:
            os.chown(folder, whose.pw_uid, whose.pw_gid)
        given: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL, "env": {"PATH": os.environ["PATH"]}}
        if whose is not None:
            given |= {"user": whose.pw_uid, "group": whose.pw_gid, "extra_groups": []}
        data = str(folder / "data")
        subprocess.run(
            [found / "initdb", "-D", data, "-U", "epsilens", "-A", "trust", "-E", "UTF8", "--no-sync",
             "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"],
            check=True, capture_output=True, **given,
        )  # fmt: skip
        server = Server(folder, _free_port())
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [found / "postgres", "-D", data, "-k", str(folder), "-p", str(server.port), "-h", "127.0.0.1",
                 "-c", "fsync=off", "-c", "timezone=Europe/Berlin", "-c", "max_connections=30"],
                stdout=log, stderr=log, **given,
            )  # fmt: skip
        _wait(server, process, folder / "log")
        yield server
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # fast: connections are cut
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom to be: the server refuses to be root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    until = time.monotonic() + 60
    while True:
        try:
            server.connect().close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text('utf-8', 'replace')[-2000:]}") from None
            time.sleep(0.05)
