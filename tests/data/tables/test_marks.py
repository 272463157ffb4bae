"""The mark of a file: the same on one machine, another on another, and of no use without the secret."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from epsilens.data.tables.fingerprint import key_path, keyed_fingerprint


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = tmp_path / "people.csv"
    made.write_bytes(b"who,x\nAnna,1\n" * 200_000)
    return made


def test_a_mark_is_keyed(table: Path) -> None:
    """By Python's own HMAC over the whole file, under the key that lies there."""
    found = keyed_fingerprint(table)
    key = key_path().read_bytes()
    assert len(key) == 32
    assert found == hmac.new(key, table.read_bytes(), hashlib.sha256).hexdigest()[:16]
    assert found != hashlib.sha256(table.read_bytes()).hexdigest()[:16]
    assert keyed_fingerprint(table) == found


def test_only_its_owner_reads_the_secret(table: Path) -> None:
    keyed_fingerprint(table)
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(key_path().parent.stat().st_mode) == 0o700
    assert [p.name for p in key_path().parent.iterdir()] == ["key"]
    key_path().chmod(0o640)
    assert keyed_fingerprint(table) is None


def test_another_machine_marks_otherwise(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = keyed_fingerprint(table)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert keyed_fingerprint(table) not in (None, here)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_none(table: Path, content: bytes) -> None:
    keyed_fingerprint(table)
    key_path().write_bytes(content)
    assert keyed_fingerprint(table) is None


def test_without_a_place_there_is_no_mark(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert keyed_fingerprint(table) is None


def test_processes_that_start_together_share_one_secret(table: Path) -> None:
    said = "import sys; from pathlib import Path; from epsilens.data.tables.fingerprint import keyed_fingerprint"
    command = [sys.executable, "-c", f"{said}; print(keyed_fingerprint(Path(sys.argv[1])))", str(table)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) for _ in range(4)]
    found = {one.communicate()[0].strip() for one in started}
    assert found == {keyed_fingerprint(table)}
