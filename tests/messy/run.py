"""Every messy table by the command line and on the page: ``python -m tests.messy.run FOLDER [TABLE …]``.

Writes into the folder the tables, their plans, reports and screenshots, and ``record.md``: what was understood, what
was asked, how long it took.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.messy.page import Visit, screenshots, served
from tests.messy.tables import TABLES
from tests.messy.unseen_expected import EVERY

_CLI = [sys.executable, "-c", "from epsilens.cli.app import main; main()"]


@dataclass(frozen=True)
class Run:
    """One table by the command line."""

    name: str
    init: float
    assess: float
    said: str
    exit: int
    choose: tuple[str, ...] = ()
    visit: Visit | None = None

    def written(self) -> str:
        """A section of the record."""
        lines = [f"## {self.name}", f"init {self.init:.1f} s, assess {self.assess:.1f} s, exit code {self.exit}", ""]
        lines += ["```", self.said.strip(), "```", "Asked:", *(f"- `{line}`" for line in self.choose), ""]
        if self.visit is not None:
            lines += [
                f"On the page: upload to form {self.visit.upload:.1f} s, to report {self.visit.report:.1f} s.",
                "",
            ]
            lines += [f"- {problem}" for problem in self.visit.problems]
        return "\n".join(lines)


def _command(*arguments: str) -> tuple[int, str, float]:
    began = time.perf_counter()
    done = subprocess.run([*_CLI, *arguments], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr, time.perf_counter() - began


def run(name: str, folder: Path) -> Run:
    """One table from ``init`` to its report."""
    for part in ("tables", "plans", "reports", "shots"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    path, expected = TABLES[name](folder / "tables"), EVERY[name]
    table = f"sqlite:///{path}#{expected.table}" if expected.table else str(path)
    plan, report = folder / "plans" / f"{name}.yaml", folder / "reports" / f"{name}.html"
    code, said, first = _command("init", table, "--output", str(plan), "--force")
    if code:
        return Run(name, first, 0.0, said, code)
    choose = tuple(line.strip() for line in plan.read_text("utf-8").splitlines() if re.search(r"\bchoose\b", line))
    code, told, second = _command("assess", str(plan), "--format", "html", "--output", str(report))
    return Run(name, first, second, "\n".join((said, told)), code, choose)


def main() -> None:
    """All tables, or those named."""
    folder = Path(sys.argv[1]).absolute()
    names = sys.argv[2:] or [*TABLES]
    done = [run(name, folder) for name in names]
    with served() as address:
        visits = screenshots(address, folder, names)
    parts = [Run(**{**vars(one), "visit": visits.get(one.name)}).written() for one in done]
    (folder / "record.md").write_text("# Messy tables\n\n" + "\n".join(parts), "utf-8")
    print((folder / "record.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
