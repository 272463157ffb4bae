"""Public namespaces: a package's stub (``__init__.pyi``) declares its names once, and each is imported on first use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, read off the imports of the stub beside it."""
    homes: dict[str, tuple[str, str, bool]] = {}  # the module, the name there, and whether it is a module itself
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            source, submodule = "." * node.level + (node.module or ""), node.module is None
            homes |= {alias.name: (source, alias.name, submodule) for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):  # a public name of its own
            homes |= {target.id: homes.pop(node.value.id) for target in node.targets if isinstance(target, ast.Name)}
    homes = {name: home for name, home in homes.items() if not name.startswith("_")}
    names = sorted(homes)

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        source, own, submodule = homes[name]
        value = import_module(source + own, package) if submodule else getattr(import_module(source, package), own)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: [*names, *(name for name in vars(sys.modules[package]) if name.startswith("__"))], names
