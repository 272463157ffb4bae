"""``epsilens serve``."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from epsilens.cli.serve import serve
from epsilens.errors import InputError, MissingExtra

SOURCE = str(Path(__file__).parents[2] / "src")


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
    code = "import sys, epsilens, epsilens.web, epsilens.cli.serve; sys.exit('fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": SOURCE}, check=False).returncode == 0


def test_it_serves_and_stops() -> None:
    code = "from epsilens.cli.serve import serve; serve(port=0)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"{url}help", timeout=10) as page:
                    assert page.status == 200
                    break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("the page never answered")
    finally:
        process.terminate()
        _, err = process.communicate(timeout=20)
    assert "Traceback" not in err
