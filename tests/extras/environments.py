"""Environments with some of the extras alone, made of links into the one the tests run in."""

from __future__ import annotations

import sysconfig
import tomllib
import venv
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def requirements(extras: tuple[str, ...]) -> list[Requirement]:
    """What the project asks for, with these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = project["dependencies"] + [one for extra in extras for one in project["optional-dependencies"][extra]]
    return [Requirement(one) for one in asked]


def distributions(extras: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """Every distribution that pip would bring, by its name."""
    found: dict[str, metadata.Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(one, "") for one in requirements(extras)]
    while waiting:
        asked, wanted = waiting.pop()
        if asked.marker is not None and not asked.marker.evaluate({"extra": wanted}):
            continue
        name = canonicalize_name(asked.name)
        if name == "epsilens":
            waiting += [(one, "") for one in requirements(tuple(asked.extras))]
            continue
        for extra in ("", *asked.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                found.setdefault(name, metadata.distribution(name))
                waiting += [(Requirement(one), extra) for one in found[name].requires or ()]
    return found


def environment(folder: Path, *extras: str) -> Path:
    """The Python of an environment as ``pip install epsilens[extras]`` leaves it, in ``folder``."""
    venv.create(folder, symlinks=True, with_pip=False)
    purelib = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    for one in distributions(extras).values():
        for top in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
            link = purelib / top
            if not link.exists():
                link.symlink_to(Path(str(one.locate_file(top))))
    (purelib / "epsilens.pth").write_text(f"{ROOT / 'src'}\n", "utf-8")
    return folder / "bin" / "python"
