"""Temporary folders end with their process, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from epsilens.data.tables.resources import Folder, sweep

_HOLDS = """
import sys, time
from epsilens.data.tables.resources import Folder
folder = Folder(sys.argv[1])
(folder.path / "cells").write_text("secret")
print(folder.path, flush=True)
time.sleep(60)
"""


def test_it_is_private_and_goes(tmp_path: Path) -> None:
    with Folder(tmp_path) as folder:
        assert folder.path.stat().st_mode & 0o077 == 0
        (folder.path / "cells").write_text("secret")
    assert not list(tmp_path.iterdir())


def test_kill_9_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    path = Path(process.stdout.readline().strip())
    assert (path / "cells").exists()
    os.killpg(process.pid, signal.SIGKILL)  # the whole group, as an impatient person's shell does
    process.wait()
    process.stdout.close()
    end = time.monotonic() + 10
    while path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not path.exists()


def test_the_next_one_sweeps_what_nobody_holds(tmp_path: Path) -> None:
    left = tmp_path / "epsilens-left"
    left.mkdir()
    (left / ".lock").write_text("")
    (left / "cells").write_text("secret")
    other = tmp_path / "epsilens-not-ours"
    other.mkdir()
    with Folder(tmp_path) as held:
        assert not left.exists()
        assert other.exists()  # without a lock it may be anybody's
        sweep(tmp_path)
        assert held.path.exists()
