"""What went wrong inside an engine, in our words.

An engine's own message often quotes the cell it stumbled over, or the address with its password. So none is passed on:
a failure is sorted into one of a few kinds by its class, its code and its fixed words, and each kind has its sentence.
Of a failure of no known kind only the class is named.

>>> failure_of(MemoryError("while hashing 'Jo Smith'"))
<Failure.MEMORY: 'memory'>
>>> str(engine_error(ValueError("bad value 'Jo Smith'"), "people.csv", "duckdb"))
"table is 'people.csv': duckdb could not read it (ValueError); check the file and the types of its columns"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from ...errors import InputError
from .address import masked


class Failure(StrEnum):
    """The kinds of failure."""

    MEMORY = "memory"
    DISK = "disk"
    PERMISSION = "permission"
    READ_ONLY = "read only"
    PASSWORD = "password"
    NO_PASSWORD = "no password"
    UNREACHABLE = "unreachable"
    LOST = "lost"
    NO_DATABASE = "no database"
    MISSING = "missing"
    LOCKED = "locked"
    DAMAGED = "damaged"
    VALUE = "value"
    RANGE = "range"
    TYPE = "type"
    RESULT = "result"
    INTERRUPTED = "interrupted"
    OTHER = "other"


#: What happened, and what to do.
_WORDS: dict[Failure, tuple[str, str]] = {
    Failure.MEMORY: ("the engine ran out of memory", "give it more memory, use fewer columns, or a larger machine"),
    Failure.DISK: (
        "the disk is full",
        "free space where temporary files go, or set TMPDIR to a folder on a larger disk",
    ),
    Failure.PERMISSION: ("permission is denied", "ask for the right to read it, or sign in as another user"),
    Failure.READ_ONLY: ("it can only be read, and the engine had to write", "use a connection that may write"),
    Failure.PASSWORD: ("the server does not accept this user and password", "check both"),
    Failure.NO_PASSWORD: (
        "the server asks for a password",
        "set EPSILENS_PASSWORD, write ${VARIABLE} in the address where the password goes, or run it in a terminal",
    ),
    Failure.UNREACHABLE: ("no server answers there", "check the host and the port, and that the server is running"),
    Failure.LOST: ("the connection to the server was lost", "try again, or ask who runs the server"),
    Failure.NO_DATABASE: ("the server has no such database", "check the name after the host"),
    Failure.MISSING: ("the table, or a file of it, is gone", "check that it is still there"),
    Failure.LOCKED: ("another program is writing to it", "close it there, or give a copy of the file"),
    Failure.DAMAGED: ("it is damaged, or of another kind than its name says", "check the file"),
    Failure.VALUE: ("a value does not fit the type of its column", "correct it, or read the column as text"),
    Failure.RANGE: (
        "a number is too large for its type",
        "use smaller numbers in the condition, or a column of a wider type",
    ),
    Failure.TYPE: (
        "the engine lacks an operation on this type of column",
        "give the column another type, or use engine='duckdb'",
    ),
    Failure.RESULT: (
        "the result is larger than Spark's driver may take",
        "give the driver more memory (spark.driver.memory, spark.driver.maxResultSize), or use fewer columns",
    ),
    Failure.INTERRUPTED: ("the query was ended before it was done", "run it again, or ask for a longer limit on time"),
}

#: PostgreSQL's codes, and those of every database that follows the standard, by their beginning.
_STATES: tuple[tuple[str, Failure], ...] = (
    ("28P01", Failure.PASSWORD), ("28", Failure.PASSWORD), ("3D", Failure.NO_DATABASE), ("42501", Failure.PERMISSION),
    ("42P01", Failure.MISSING), ("3F", Failure.MISSING), ("42883", Failure.TYPE), ("42846", Failure.TYPE),
    ("42804", Failure.TYPE), ("22003", Failure.RANGE), ("22", Failure.VALUE), ("53100", Failure.DISK),
    ("53200", Failure.MEMORY), ("53", Failure.UNREACHABLE), ("57014", Failure.INTERRUPTED), ("57", Failure.LOST),
    ("08", Failure.LOST), ("25006", Failure.READ_ONLY), ("55P03", Failure.LOCKED), ("58", Failure.DISK),
    ("XX", Failure.DAMAGED),
)  # fmt: skip

#: SQLite's codes (the low byte of what it reports).
_SQLITE = {
    3: Failure.PERMISSION, 5: Failure.LOCKED, 6: Failure.LOCKED, 7: Failure.MEMORY, 8: Failure.READ_ONLY,
    9: Failure.INTERRUPTED, 10: Failure.DISK, 11: Failure.DAMAGED, 13: Failure.DISK, 14: Failure.PERMISSION,
    18: Failure.MEMORY, 20: Failure.VALUE, 23: Failure.PERMISSION, 26: Failure.DAMAGED,
}  # fmt: skip

#: Classes of Python, DuckDB, Arrow, Ibis and psycopg.
_CLASSES = {
    "MemoryError": Failure.MEMORY, "ArrowMemoryError": Failure.MEMORY, "OutOfMemoryException": Failure.MEMORY,
    "PermissionError": Failure.PERMISSION, "PermissionException": Failure.PERMISSION,
    "FileNotFoundError": Failure.MISSING, "TableNotFound": Failure.MISSING, "CatalogException": Failure.MISSING,
    "ConversionException": Failure.VALUE, "OutOfRangeException": Failure.RANGE, "OverflowError": Failure.RANGE,
    "TypeMismatchException": Failure.TYPE, "OperationNotDefinedError": Failure.TYPE,
    "UnsupportedOperationError": Failure.TYPE, "InterruptException": Failure.INTERRUPTED,
    "SerializationException": Failure.DAMAGED, "ConnectionTimeout": Failure.UNREACHABLE,
    "ConnectionRefusedError": Failure.UNREACHABLE, "gaierror": Failure.UNREACHABLE, "TimeoutError": Failure.UNREACHABLE,
}  # fmt: skip

#: Fixed words of engines' messages, and Spark's names of errors, in the order in which they are looked for.
_TEXTS: tuple[tuple[str, Failure], ...] = (
    (r"no space left on device|could not write all bytes|disk full|disk is full|max_temp_directory_size|"
     r"exceeded (the )?disk quota|out of disk", Failure.DISK),
    (r"maxResultSize", Failure.RESULT),
    (r"OutOfMemoryError|OUT_OF_MEMORY|out of memory|cannot allocate memory|failed to (allocate|pin)|heap space|"
     r"cannot acquire .* bytes of memory|bad_alloc|StackOverflowError", Failure.MEMORY),
    (r"no password supplied|using password: NO|password is required", Failure.NO_PASSWORD),
    (r"password authentication failed|authentication failed|access denied for user|no pg_hba.conf entry|"
     r"role .* does not exist|login failed|invalid (user|password|credential)", Failure.PASSWORD),
    (r"database .* does not exist|unknown database", Failure.NO_DATABASE),
    (r"connection refused|could not translate host|name or service not known|no such host|timed out|"
     r"timeout expired|no route to host|network is unreachable|failed to resolve|can't connect|"
     r"is the server running|could not connect|too many clients", Failure.UNREACHABLE),
    (r"server closed the connection|terminating connection|connection reset|connection (was|has been|is) "
     r"(closed|lost)|broken pipe|lost connection|gone away|Py4JNetworkError|Answer from Java side is empty|"
     r"SparkContext was shut down|stopped SparkContext", Failure.LOST),
    (r"could not set lock|conflicting lock|unique file handle conflict|different configuration than existing|"
     r"database is locked|LOCK_NOT_AVAILABLE", Failure.LOCKED),
    (r"permission denied|PERMISSION|access is denied|AccessControlException|insufficient privilege",
     Failure.PERMISSION),
    (r"read-?only", Failure.READ_ONLY),
    (r"TABLE_OR_VIEW_NOT_FOUND|no such table|FAILED_READ_FILE.FILE_NOT_EXIST|PATH_NOT_FOUND|FileNotFoundException|"
     r"no such file|table .* does not exist|relation .* does not exist|no files found", Failure.MISSING),
    (r"magic bytes|not a (valid )?(parquet|duckdb|database)|file is not a database|malformed|corrupt|"
     r"CANNOT_READ_FILE_FOOTER|FAILED_READ_FILE|snappy|zstd|deserialize thrift|too small to be a parquet",
     Failure.DAMAGED),
    (r"ARITHMETIC_OVERFLOW|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|out of range|integer overflow|overflow",
     Failure.RANGE),
    (r"CAST_INVALID_INPUT|could not convert|CONVERSION|CANNOT_PARSE|invalid input syntax|could not decode|"
     r"invalid (unicode|utf-?8)|tried to convert|Conversion failed", Failure.VALUE),
    (r"DATATYPE_MISMATCH|PARQUET_TYPE|illegal parquet type|"
     r"UNSUPPORTED_|no function matches|cannot cast|operator does not exist|not implemented|"
     r"no such function", Failure.TYPE),
    (r"interrupted|cancelled|canceled", Failure.INTERRUPTED),
)  # fmt: skip


def failure_of(error: BaseException) -> Failure:
    """The kind of failure; of errors that wrap others, the outermost that is known."""
    for each in _chain(error):
        found = _classify(each)
        if found is not Failure.OTHER:
            return found
    return Failure.OTHER


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _classify(error: BaseException) -> Failure:
    text = str(error)
    if re.search(_TEXTS[0][0], text, re.IGNORECASE) or getattr(error, "errno", None) == 28:
        return Failure.DISK  # every engine files it under something else
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return next((kind for start, kind in _STATES if state.startswith(start)), Failure.OTHER)
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int) and code & 255 in _SQLITE:
        return _SQLITE[code & 255]
    for kind in type(error).__mro__:
        if kind.__name__ in _CLASSES:
            return _CLASSES[kind.__name__]
    if hasattr(error, "getCondition"):  # Spark names its errors
        named = _classify_text(str(error.getCondition()))
        if named is not Failure.OTHER:
            return named
    return _classify_text(text)


def _classify_text(text: str) -> Failure:
    return next((kind for words, kind in _TEXTS if re.search(words, text, re.IGNORECASE)), Failure.OTHER)


def failure_phrase(error: BaseException) -> str:
    """What happened, short enough to stand inside one sentence; never the words of the error itself.

    >>> failure_phrase(ValueError("could not convert 'Jo Smith'")), failure_phrase(KeyError("Jo Smith"))
    ('a value does not fit the type of its column', 'KeyError')
    """
    kind = failure_of(error)
    return type(error).__name__ if kind is Failure.OTHER else _WORDS[kind][0]


def engine_error(
    error: BaseException, table: str, engine: str, columns: Iterable[str] = (), *, parameter: str = "table"
) -> InputError:
    """The error to raise instead of an engine's own; ``columns`` are the names it may mention."""
    kind = failure_of(error)
    head = f"{parameter} is {masked(table)!r}: {engine} could not {'read' if parameter == 'table' else 'open'} it"
    if kind is Failure.OTHER:
        return InputError(
            f"{head} ({type(error).__name__}); check the file and the types of its columns", parameter=parameter
        )
    what, remedy = _WORDS[kind]
    named = _column(error, columns) if kind in (Failure.VALUE, Failure.TYPE, Failure.RANGE) else None
    where = f" (column {named!r})" if named else ""
    return InputError(f"{head}, because {what}{where}; {remedy}", parameter=parameter)


def _column(error: BaseException, columns: Iterable[str]) -> str | None:
    """The one column that the error names as engines quote names; a cell is quoted otherwise, or not at all."""
    text = "\n".join(str(each) for each in _chain(error))
    found = [name for name in columns if f'"{name}"' in text or f"`{name}`" in text]
    return found[0] if len(found) == 1 else None
