"""What every command shares: its options from the catalogue, how output is written, how errors become exit codes.

A new command is one function and one line:

1. declare its options in :mod:`epsilens.catalogue.commands`;
2. write a function of what was said, one mapping by those names, in the room it belongs to; import the library inside
   it, so that ``epsilens --help`` stays fast;
3. let it build a result with ``to_text``, ``to_markdown``, ``to_html`` and ``to_dict``, and end with
   ``show(result, said["format"], said["output"])``;
4. register it in :mod:`epsilens.cli.app`, where :func:`epsilens.cli.app.command` gives typer the signature it reads
   options from.

Wrong input is an :class:`~epsilens.errors.InputError` (exit 2), a limit nothing satisfies a
:class:`~epsilens.errors.NoSolutionError` (exit 3), one a ledger refuses a :class:`~epsilens.errors.LimitError` (exit
4):
raise them, :func:`run` does the rest. A result that is over a limit is shown first and then ends the command with
``Exit.EXCEEDED`` (exit 4). Text becomes numbers in :mod:`epsilens.catalogue.parsing`, with a sentence for what is none.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias

import typer

from ..catalogue.commands import ExitCode
from ..catalogue.parsing import is_given, shorten
from ..data.tables.address import masked
from ..errors import InputError, LimitError, NoSolutionError, WriteError, suggestion
from ..results import escape_controls
from . import STOP

#: How a result is written.
Format = StrEnum("Format", ["table", "json", "md", "html", "csv", "pdf"])


class Showable(Protocol):
    """What a command may show."""

    def to_text(self, width: int = 80) -> str: ...

    def to_terminal(self, width: int = 80) -> str:
        """Text with the emphasis of a terminal."""
        ...

    def to_markdown(self) -> str: ...

    def to_html(self) -> str: ...

    def to_csv(self) -> str:
        """The main table, numbers in full."""
        ...

    def to_pdf(self) -> bytes: ...

    def to_dict(self) -> dict[str, Any]: ...


class Repeatable(Protocol):
    """What says which command makes it again."""

    def with_command(self, command: str) -> Showable: ...


FormatOption = Annotated[Format, typer.Option("--format", help="How to write the result.", show_choices=True)]
OutputOption = Annotated[
    str | None, typer.Option("--output", metavar="FILE", help="Write to a file instead of the terminal.")
]


#: Endings of files that say how to write.
_ENDINGS = ("json", "md", "html", "csv")


def show(result: Showable, format: Format, output: str | None) -> None:
    """Write a result in the wanted format, to a file or the terminal; the ending of a file's name says it too."""
    styled, format = False, Format(format_by_name(format, output))
    if format is Format.pdf:
        emit_file(result.to_pdf(), output)
        return
    if format is Format.json:
        text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    elif format is Format.md:
        text = result.to_markdown()
    elif format is Format.html:
        text = result.to_html()
    elif format is Format.csv:
        text = result.to_csv()
    else:
        width = min(max(shutil.get_terminal_size((80, 24)).columns, 40), 100)
        if output is None and sys.stdout is not None and sys.stdout.isatty():
            text, styled = result.to_terminal(width), True
        else:
            text = result.to_text(80 if output else width)
    emit(text, output, styled=styled, page=format is Format.html)


def format_by_name(format: str, output: str | None) -> str:
    """The format that was asked for, or the one that the file's name ends in where none was.

    >>> [format_by_name(*each) for each in (("table", "a.html"), ("table", None), ("board", "b.pdf"))]
    ['html', 'table', 'board']
    """
    ending = Path(output).suffix.lower().removeprefix(".") if output else ""
    if ending == "pdf" and format not in ("table", "pdf", "board"):
        raise InputError(
            f"--output is {shorten(str(output))} and --format is {format}: leave --format out, or end the name in "
            f".{format}",
            "output",
        )
    return ending if format == "table" and ending in (*_ENDINGS, "pdf") else str(format)


def emit_file(content: bytes, output: str | None) -> None:
    """Write what is no text: to a file, or to a pipe."""
    if output is not None and output != "-":
        _to_file(content, output)
        return
    if sys.stdout is not None and sys.stdout.isatty():
        raise InputError("a PDF is nothing for a terminal: give --output FILE, such as report.pdf", "output")
    with _to_stdout():
        sys.stdout.buffer.write(content)


def emit(text: str, output: str | None, *, styled: bool = False, page: bool = False) -> None:
    """Write text with a final newline; a file is replaced whole or not at all.

    Control characters reach the terminal only in ``styled`` text, where they are our own. A ``page`` is for a file or a
    pipe.
    """
    text = text if text.endswith("\n") else text + "\n"
    if output is None or output == "-":
        if page and sys.stdout is not None and sys.stdout.isatty():
            raise InputError("a page is nothing for a terminal: give --output FILE, such as report.html", "output")
        with _to_stdout():
            sys.stdout.write(_writable(text if styled else escape_controls(text), sys.stdout.encoding or "utf-8"))
    else:
        _to_file(text.encode(), output)


def notice(text: str) -> None:
    if sys.stderr is not None:
        width = min(shutil.get_terminal_size().columns, 100)
        wrapped = textwrap.fill(escape_controls(text), width, break_long_words=False, break_on_hyphens=False)
        sys.stderr.write(_writable(wrapped, sys.stderr.encoding or "utf-8") + "\n")


_STDOUT_CLOSED = "standard output is closed: leave it open, or send it to /dev/null"


@contextmanager
def _to_stdout() -> Iterator[None]:
    """Where something is written to standard output, which may be closed, full, or read by nobody any more."""
    if sys.stdout is None:
        raise WriteError(_STDOUT_CLOSED)
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `| head`
        _forget_stdout()
    except OSError as error:
        _forget_stdout()
        raise WriteError(f"the output cannot be written: {error.strerror or error}") from None


def _forget_stdout() -> None:
    """Send what is still buffered nowhere, so that Python does not complain about it at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end of the process


_ASCII: dict[str, str | int | None] = {
    "ε": "epsilon", "δ": "delta", "ψ": "psi", "σ": "sigma", "β": "beta", "α": "fpr", "γ": "gamma", "λ": "lambda",
    "–": "-", "—": "-", "−": "-", "±": "+/-", "“": '"', "”": '"', "’": "'", "≥": ">=", "≤": "<=", "·": "*", "×": "x",
    "√": "sqrt", "é": "e", "ü": "u", "Ü": "U", "∅": "none", "₀": "0", "₁": "1", "₂": "2", "§": "section ",
}  # fmt: skip


def _writable(text: str, encoding: str) -> str:
    """The text; for terminals without Greek, names instead of symbols."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(str.maketrans(_ASCII)).encode(encoding, "replace").decode(encoding)
    return text


def _to_file(content: bytes, output: str) -> None:
    try:
        path = Path(output).resolve()
        if path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            path.write_bytes(content)  # a device or a pipe cannot be replaced
            return
        _replace(path, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"--output is {shorten(output)}: {reason}, so give a file that can be written", "output"
        ) from None


def _replace(path: Path, content: bytes) -> None:
    if path.is_dir():
        raise IsADirectoryError(21, "it is a directory")
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


#: Where a context keeps what was typed, before it is read.
RAW_OPTIONS = "epsilens.typed"

# Typer carries its own copy of click since 0.27; either way a usage error is what BadParameter derives from.
_Usage: type[Exception] = typer.BadParameter.__mro__[1]


def run(command: Callable[..., Any], arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; every error is one sentence on stderr."""
    if sys.stdout is None:  # nothing is begun whose end nobody could read
        return _say(_STDOUT_CLOSED, ExitCode.BAD_INPUT)
    try:
        code = command(args=None if arguments is None else list(arguments), prog_name="epsilens", standalone_mode=False)
        if code == ExitCode.INTERRUPTED:
            return _say(STOP.words, STOP.code)
        return code if isinstance(code, int) else ExitCode.FINE
    except NoSolutionError as error:
        return _say(str(error), ExitCode.NO_SOLUTION)
    except LimitError as error:
        return _say(str(error), ExitCode.EXCEEDED)
    except WriteError as error:
        return _say(str(error), ExitCode.UNWRITTEN)
    except InputError as error:
        return _say(str(error), ExitCode.BAD_INPUT)
    except _Usage as error:
        return _say(_usage(error), ExitCode.BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return _say(STOP.words, STOP.code)
    except BrokenPipeError:
        _forget_stdout()
        return ExitCode.FINE
    except Exception as error:  # no traceback reaches a user; this one is ours to mend
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):  # of help, which Typer writes
            _forget_stdout()
            return _say(f"the output cannot be written: {error.strerror}", ExitCode.UNWRITTEN)
        # Not its message, which may quote a cell of the table.
        return _say(
            f"something went wrong inside epsilens ({type(error).__name__}{_where(error)}): please report it",
            ExitCode.FAULT,
        )


def _where(error: Exception) -> str:
    home = Path(__file__).parents[1]
    ours = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(home)]
    return f" at {Path(ours[-1].filename).relative_to(home)}:{ours[-1].lineno}" if ours else ""


def _usage(error: Any) -> str:
    """Typer's message as one sentence that says where to read on."""
    ctx = getattr(error, "ctx", None)
    where = ctx.command_path if ctx else "epsilens"
    wrong = getattr(error, "option_name", None)
    if wrong and getattr(error, "possibilities", None) is not None:
        flags = [each for param in ctx.command.get_params(ctx) for each in param.opts] if ctx else []
        return f"there is no option {shorten(wrong)}{_suggestion(wrong, flags)}: see '{where} --help'"
    param = getattr(error, "param", None)
    given = (ctx.meta.get(RAW_OPTIONS, {}) if ctx else {}).get(getattr(param, "name", None))
    expected = _expected(getattr(getattr(param, "type_descriptor", None), "annotation", None))
    if param is not None and given is not None and expected:
        return f"{max(param.opts, key=len)} is {shorten(str(given))}: give {expected}"
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    return f"{message[:1].lower()}{message[1:]}: see '{where} --help'"


def _expected(kind: object) -> str:
    """What a value has to be, where its type says so."""
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return f"one of {', '.join(kind)}"
    words: dict[object, str] = {int: "a whole number", float: "a number"}
    return words.get(kind, "")


#: What others call it.
_OTHER_NAMES = {
    "batch-size": "batch", "noise-multiplier": "sigma", "noise": "sigma", "max-grad-norm": "clip",
    "l2-norm-clip": "clip", "clipping-norm": "clip", "clip-norm": "clip", "sample-rate": "rate",
    "sampling-rate": "rate", "sampling-probability": "rate", "q": "rate", "iterations": "steps", "eps": "epsilon",
    "e": "epsilon", "d": "delta", "sample-size": "n", "dataset-size": "n", "num-examples": "n", "size": "n",
    "std-dev": "std", "b": "scale", "quasi-identifiers": "quasi", "qi": "quasi", "out": "output", "o": "output",
    "limit": "at-most", "alpha": "fpr", "max": "at-most", "privacy-unit": "person", "private-id": "person",
    "people-column": "person",
}  # fmt: skip


def _suggestion(option: str, flags: Sequence[str]) -> str:
    """The flag that was meant: by its spelling, by what others call it, or the one that has the word in it."""
    word = option.lstrip("-").lower().replace("_", "-")
    if f"--{_OTHER_NAMES.get(word, '')}" in flags:
        return f" (did you mean --{_OTHER_NAMES[word]}?)"
    close = suggestion(word, [each.lstrip("-") for each in flags]).replace("mean ", "mean --")
    having = [each for each in flags if len(word) > 2 and word in each.split("-")]
    return close or (f" (did you mean {having[0]}?)" if having else "")


def _say(message: str, code: int) -> int:
    say(message)
    return code


def say(message: str) -> None:
    """One line on standard error, in the program's name."""
    if sys.stderr is not None:
        text = " ".join(f"epsilens: {escape_controls(masked(message))}".split())
        with suppress(OSError):  # whoever listened is gone
            sys.stderr.write(_writable(text, sys.stderr.encoding or "utf-8") + "\n")


def on_terminal() -> bool:
    """Whether somebody may be watching standard error."""
    return sys.stderr is not None and sys.stderr.isatty()


#: What was said, by the catalogue's names, in the order in which it was typed; None where nothing was.
Options: TypeAlias = Mapping[str, Any]


def repeatable_options(said: Options, *without: str) -> dict[str, Any]:
    """Every option as it was typed, without how and where to write, for the line that reproduces the result."""
    skip = ("mechanism", "format", "output", *without)
    return {k: v for k, v in said.items() if k not in skip and is_given(v)}


def show_repeatable(about: Repeatable, said: Options, command: str, mechanism: str = "") -> None:
    """Show a result with the line that reproduces it, in the format and where it was said."""
    from ..show.explanation import command_line

    line = command_line(command, mechanism, repeatable_options(said))
    show(about.with_command(line), said["format"], said["output"])
