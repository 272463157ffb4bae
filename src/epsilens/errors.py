"""The few ways in which epsilens says no.

::

    EpsilensError
    ├── InputError          a parameter is wrong: its name, its value, what is allowed, what to do
    │   ├── MissingExtra    an optional dependency is not installed: which, and the command that installs it
    │   ├── Refused         a limit that was set beforehand does not allow it; nothing was spent
    │   └── Unwritten       what was made, and may be spent, could not be written
    └── NoSolutionError     the question is well put, but no parameter satisfies the limit

Every message is one sentence a person can act on. The command line turns :class:`InputError` into exit
code 2, :class:`Refused` into 4, :class:`Unwritten` into 5 and :class:`NoSolutionError` into 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

#: Packages next door, and the extra that brings each.
_EXTRAS = {"dp_accounting": "accounting", "opendp": "opendp", "opacus": "opacus"}
_EXTRAS |= dict.fromkeys(("ibis", "pyarrow", "sqlglot", "duckdb"), "data")
_LONGEST = 2_000


class EpsilensError(Exception):
    """Base of everything epsilens raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        """The message and what else it carries: errors cross from one process to another."""
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[EpsilensError], args: tuple[object, ...]) -> EpsilensError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


def _sentence(message: str) -> str:
    """One line, however many the value has that it quotes, and not without end: what to do stands last, so it stays."""
    line = message if "\n" not in message and "\r" not in message else " ".join(message.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2 - 2]}...{line[1 - _LONGEST // 2 :]}"


class InputError(EpsilensError, ValueError):
    """A parameter is not usable; the message names it, its value, what is allowed and what to do.

    ``parameter`` is the parameter it speaks of ("" where it speaks of none or of several) and ``value`` what was given:
    a form finds its field, and code its way, by these and never by the message.
    """

    def __init__(self, message: str, parameter: str = "", value: object = None) -> None:
        super().__init__(_sentence(message))
        self.parameter, self.value = parameter, value


class MissingExtra(InputError, ImportError):  # noqa: N818 - reads as what it is
    """An optional dependency is missing.

    >>> str(MissingExtra("duckdb", extra="data", purpose="scanning a table"))
    "scanning a table needs the package 'duckdb': install it with  pip install 'epsilens[data]'"
    """

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}: install it with  pip install 'epsilens[{extra}]'")
        self.package, self.extra = package, extra


class LimitError(InputError):
    """A release that a limit set beforehand does not allow; nothing was spent."""


class WriteError(InputError):
    """What was made could not be written; what a release spent is spent."""


def type_phrase(value: object) -> str:
    """The kind of a value with its article, for a sentence about one that is of the wrong kind.

    >>> type_phrase(3), type_phrase([]), type_phrase(None)
    ('an int', 'a list', 'None')
    """
    name = type(value).__name__
    if value is None:
        return "None"
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def require(module: str, purpose: str, extra: str = "") -> ModuleType:
    """The module, or a sentence naming the extra that brings it, or one that brings all that the purpose needs.

    >>> require("dp_accounting.nothing_like_it", "reading an event")
    Traceback (most recent call last):
    epsilens.errors.MissingExtra: reading an event needs the package 'dp-accounting': install it with  pip install ...
    """
    top = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        package = "ibis-framework" if top == "ibis" else top.replace("_", "-")
        raise MissingExtra(package, extra=extra or _EXTRAS[top], purpose=purpose) from error


class OptionalModule:
    """A module that an extra brings, imported when something is first taken from it.

    >>> OptionalModule("math", "a sum").pi
    3.141592653589793
    """

    def __init__(self, module: str, purpose: str) -> None:
        self._module, self._purpose = module, purpose

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks of any object
            raise AttributeError(name)
        return getattr(require(self._module, self._purpose), name)


class NoSolutionError(EpsilensError):
    """No value of ``parameter`` keeps the reading under the limit; ``floor`` is the least the reading can be."""

    def __init__(self, message: str, *, floor: float, parameter: str = "") -> None:
        super().__init__(message)
        self.floor, self.parameter = floor, parameter


def suggestion(name: object, known: Iterable[str]) -> str:
    """What to add to a sentence about a name that is not known, where one that is comes close to it.

    >>> suggestion("laplac", ["laplace", "gaussian"]), suggestion("cauchy", ["laplace"])
    (' (did you mean laplace?)', '')
    """
    if not isinstance(name, str) or len(name) > 40:
        return ""
    from difflib import get_close_matches  # only once something is wrong

    close = get_close_matches(name.strip().lower(), list(known), n=1, cutoff=0.75)
    return f" (did you mean {close[0]}?)" if close else ""
