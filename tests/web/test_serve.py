"""``epsilens serve``, as a real server: its address, its end, and clients that are slow, many or gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the page needs epsilens[web]")
pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")

from tests.web.servers import SOURCE, Server, alive, server, told, until

from epsilens.cli.app import serve
from epsilens.errors import InputError, MissingExtra

ROWS = b"id,age,site\n" + b"".join(b"%d,%d,%d\n" % (i, 18 + i % 70, i % 9) for i in range(150_000))


def test_a_port_in_use_is_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="another program uses it, so give another port"):
            serve(port=taken.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "port", "said"), [("127.0.0.1", 70000, "from 0 to 65535"), ("no.such.host.invalid", 0, "--host is")]
)
def test_wrong_addresses(host: str, port: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        serve(host=host, port=port)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"pip install 'epsilens\[web\]'"):
        serve(port=0)


def test_the_library_does_not_import_the_page() -> None:
    code = "import sys, epsilens, epsilens.web, epsilens.cli.app; sys.exit('fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": SOURCE}, check=False).returncode == 0


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as made:
            made.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not _has_ipv6(), reason="the machine has no IPv6")
def test_an_address_of_ipv6_may_stand_in_brackets(tmp_path: Path) -> None:
    with server(tmp_path, host="[::1]") as made:
        assert "The page is at http://[::1]:" in made.said
        assert made.log == ""
        made.stop()


def test_a_server_on_the_network_says_who_can_reach_it_and_sweeps_at_the_start(tmp_path: Path) -> None:
    left = tmp_path / "epsilens-left"  # by a machine that lost its power
    left.mkdir()
    (left / ".lock").touch()
    (left / "upload.csv").write_text("age\n1\n")
    with server(tmp_path, host="0.0.0.0") as made:
        assert not left.exists()
        assert "http://127.0.0.1:" in made.said
        assert "everyone who can reach this machine over the network can use the page, there is no password" in made.log
        assert made.log.count("\n") == 1
        made.stop()
    assert list(tmp_path.iterdir()) == []


# -- one server for those that leave it as it was -----------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    limits = {"start_seconds": 1.0, "slowest": 10_000.0, "pause_seconds": 3600.0, "receiving": 3}
    with server(tmp_path_factory.mktemp("tmp"), **limits) as made:
        yield made


def test_a_slow_upload_is_ended(served: Server) -> None:
    with served.begun(1_000_000, b"age\n1\n") as slow:
        text = told(slow)
    assert "408" in text.splitlines()[0]
    assert "came too slowly" in text
    until(lambda: not served.files())


def test_a_cut_off_upload_leaves_one_line_in_the_log(served: Server) -> None:
    time.sleep(1)  # what tests before this one cut off is logged by now
    before = served.log.count("\n")
    cut = served.begun(1_000_000, b"age\n" + b"1\n" * 300_000)  # enough for a minute until it would be too slow
    until(lambda: served.files())
    cut.close()
    until(lambda: not served.files())
    until(lambda: "cut off" in served.log)
    assert served.log.count("\n") <= before + 1
    assert "Traceback" not in served.log
    for path in ("/assess", "/api/assess", "/assess/shares"):  # other bodies leave none
        with socket.create_connection(("127.0.0.1", served.port)) as cut:
            cut.sendall(
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                "Content-Length: 5000\r\n\r\nyaml=x".encode()
            )
    time.sleep(0.3)
    assert "Traceback" not in served.log


@pytest.mark.always
def test_of_twenty_uploads_at_once_most_are_refused_before_they_are_read(served: Server) -> None:
    all_of_them = [served.begun(50_000_000, b"age\n" + b"1\n" * 20_000) for _ in range(20)]
    try:
        answers, largest = [], 0
        for one in all_of_them:
            answers.append(one.recv(100).decode().split()[1])
            largest = max(largest, sum(path.stat().st_size for path in served.files() if path.exists()))
        # Those that are received become too slow in their turn.
        assert (answers.count("503"), answers.count("408")) == (17, 3)
        assert largest < 3 * 1_000_000
    finally:
        for one in all_of_them:
            one.close()
    until(lambda: not served.files())
    assert served.upload(b"age\n1\n")[0]["name"] == "people.csv"


def test_a_refusal_is_read_by_one_who_sends_all_the_same(served: Server) -> None:
    """A browser looks at the answer only once it has sent everything."""
    with served.begun(300_000_000, b"") as sending:
        for _ in range(290):
            sending.sendall(b"x" * 1_000_000)
        text = sending.recv(10_000).decode()
    assert "413" in text.splitlines()[0]
    assert "larger than 200 MB" in text


@pytest.mark.parametrize("path", ["/assess", "/api/assess"])
def test_a_megabyte_of_yaml_does_not_hold_the_server(served: Server, path: str) -> None:
    body = b"yaml=" + b"- [a, b]%0A" * 90_000 if path == "/assess" else b"- [a, b]\n" * 110_000
    kind = "application/x-www-form-urlencoded" if path == "/assess" else "application/yaml"
    asked = threading.Thread(target=served.ask, args=("POST", path, body), kwargs={"content_type": kind})
    asked.start()
    slowest = 0.0
    while asked.is_alive():
        begun = time.monotonic()
        assert served.ask("GET", "/help")[0] == 200
        slowest = max(slowest, time.monotonic() - begun)
    asked.join()
    assert slowest < 30  # it never answered again


# -- servers that end ---------------------------------------------------------------------------------------------


def test_it_stops_with_a_half_sent_upload_and_leaves_nothing(tmp_path: Path) -> None:
    with server(tmp_path / "tmp") as made:
        made.upload(ROWS)
        with made.begun(1_000_000, b"age\n" * 1000), socket.create_connection(("127.0.0.1", made.port)) as silent:
            silent.sendall(b"GET /help HTTP/1.1\r\nHost:")
            until(lambda: len(made.files()) >= 2)
            made.stop()
        assert made.files() == []
        assert list((tmp_path / "tmp").iterdir()) == []
        until(lambda: made.log)
        assert made.log.count("\n") == 1  # the upload that was cut off; nothing had to be cancelled


def _at_work(made: Server) -> list[int]:
    """A file that is looked at and half of another one; the processes once the one that looks has a folder too."""
    made.upload(ROWS)
    until(lambda: made.workers() and len(list(made.temporary.iterdir())) >= 2)
    return made.workers()


def test_nothing_is_left_after_kill_9(tmp_path: Path) -> None:
    with server(tmp_path / "tmp") as made:
        for process in _at_work(made):
            os.kill(process, 9)
        until(lambda: len(list(made.temporary.iterdir())) == 1)  # the server's own, with the file
        assert len(made.files()) == 1
        workers = _at_work(made)
        with made.begun(1_000_000, b"age\n" * 1000):
            until(lambda: len(made.files()) >= 3)
            os.kill(made.process.pid, 9)
            until(lambda: not any(alive(process) for process in workers))
            until(lambda: not list(made.temporary.iterdir()))
        assert "Traceback" not in made.log


@pytest.mark.always
def test_nothing_is_left_after_kill_9_of_all(tmp_path: Path) -> None:
    with server(tmp_path / "tmp") as made:
        for process in [made.process.pid, *_at_work(made)]:
            os.kill(process, 9)
        until(lambda: not list(made.temporary.iterdir()))


@pytest.mark.always
def test_a_head_that_never_ends_is_not_waited_for(served: Server) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=120) as silent:
        silent.sendall(b"GET /help HTTP/1.1\r\nHost:")
        assert silent.recv(1) == b""
