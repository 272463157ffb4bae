"""Addresses of databases: their parts, and what of them may be shown or written down.

>>> address = address_of("postgres://me:p@ss/w#rd:é%@host:5432/clinic#visits")
>>> address.user, address.host, address.port, address.path, address.table
('me', 'host', '5432', '/clinic', 'visits')
>>> address.password
'p@ss/w#rd:é%'
>>> address
postgres://…@host:5432/clinic#visits

People paste passwords as they are, so the user and the password end at the *last* ``@`` that a host follows: an ``@``
in a name further on is written ``%40``. A part may also stand in the environment, and then stays out of every file:

>>> without_password("postgres://me:${CLINIC}@host/clinic#visits")
'postgres://me:${CLINIC}@host/clinic#visits'
>>> without_password("postgres://me:hush@host/clinic#visits")
'postgres://me@host/clinic#visits'
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from ...errors import InputError

#: Engines whose database is a file: what follows ``://`` is its path.
FILE_SCHEMES = ("duckdb", "sqlite")

_QUOTED = r'"(?:[^"]|"")*"'
_PARTS = re.compile(
    r"""(?P<scheme>[A-Za-z][\w+.-]*)://
    (?:(?P<user>[^:/?\#]*)(?::(?P<password>.*))?@)?
    (?P<host>\[[^\]]*\]|(?:\$\{\w+\}|[^@:/?\#"\s])*)
    (?::(?P<port>\d*|\$\{\w+\}))?
    (?P<path>/[^?\#]*)?
    (?:\?(?P<query>(?:[^\#]|\#(?=.*\#))*))?
    (?:\#(?P<table>.*))?""",
    re.VERBOSE | re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET = r"pass|pwd|secret|token|key|credential|auth|signature"
_SECRET_NAME = re.compile(_SECRET, re.IGNORECASE)
#: Settings that only sound like secrets.
_OPEN = frozenset({"sslkey", "passfile", "require_auth", "authenticator"})


@dataclass(frozen=True, repr=False)
class Address:
    """The parts of an address as they were written: ``%40`` and ``${NAME}`` stand for themselves."""

    scheme: str
    user: str = ""
    password: str | None = None
    host: str = ""
    port: str = ""
    path: str = ""
    query: tuple[tuple[str, str], ...] = ()
    table: str = ""

    def __repr__(self) -> str:
        return masked(self.text)

    @property
    def text(self) -> str:
        """The address in one line; with its password, so never to be shown."""
        secret = "" if self.password is None else f":{self.password}"
        who = f"{self.user}{secret}@" if self.user or secret else ""
        port = f":{self.port}" if self.port else ""
        query = "?" + "&".join(f"{k}={v}" for k, v in self.query) if self.query else ""
        return f"{self.scheme}://{who}{self.host}{port}{self.path}{query}" + (f"#{self.table}" if self.table else "")

    @property
    def filled(self) -> Address:
        """The parts as they are meant: ``%40`` decoded, ``${NAME}`` taken from the environment."""
        return Address(
            self.scheme.lower(),
            _resolved(self.user),
            None if self.password is None else _resolved(self.password),
            _resolved(self.host),
            _resolved(self.port),
            _resolved(self.path),
            tuple((k, _resolved(v)) for k, v in self.query),
            self.table,
        )

    @property
    def encoded(self) -> str:
        """The address of the database as every library reads it; only for parts that were filled."""
        query = tuple((quote(k, safe=""), quote(v, safe="")) for k, v in self.query)
        secret = None if self.password is None else quote(self.password, safe="")
        path = quote(self.path, safe="/:~,=@")
        return replace(self, user=quote(self.user, safe=""), password=secret, path=path, query=query, table="").text


def address_of(text: str) -> Address:
    """The parts of an address; of a text that is none, an error that does not repeat it."""
    found = _PARTS.fullmatch(text)
    scheme = text.partition("://")[0]
    if scheme.lower() in FILE_SCHEMES:
        return _file_address(text)
    if found is None:
        raise InputError(
            f"the address {masked(text)!r} cannot be read: write it as {scheme}://user@host:port/database#table, the "
            "port in digits, and %40 for an @ after the host",
            parameter="table",
        )
    parts = {name: value or "" for name, value in found.groupdict().items()}
    query = tuple((k, v) for k, _, v in (p.partition("=") for p in parts.pop("query").split("&") if p))
    table, path = parts.pop("table"), parts.pop("path")
    parts.pop("password")
    return Address(**parts, password=found["password"], path=path, query=query, table=table)


def _file_address(text: str) -> Address:
    """``duckdb://folder/file.db#table``: the table starts at the ``#`` that leaves the name of a file that exists."""
    scheme, _, rest = text.partition("://")
    ends = [m.start() for m in re.finditer("#", re.sub(_QUOTED, lambda m: "x" * len(m[0]), rest))]
    end = next((e for e in reversed(ends) if os.path.exists(_file(rest[:e]))), ends[-1] if ends else len(rest))
    if os.path.exists(_file(rest)):
        end = len(rest)
    return Address(scheme, path=_file(rest[:end]), table=rest[end + 1 :])


def _file(path: str) -> str:
    """The path of a file: ``//~/x.db`` is in the home folder, ``%20`` is decoded unless the name really has it."""
    path = os.path.expanduser(path)
    return path if os.path.exists(path) or "%" not in path else unquote(path)


def _resolved(part: str) -> str:
    # The value of a variable is taken as it is: whoever sets one does not expect to encode it.
    pieces = _VARIABLE.split(part)
    return "".join(_variable(piece) if i % 2 else unquote(piece) for i, piece in enumerate(pieces))


def _variable(name: str) -> str:
    found = os.environ.get(name)
    if found is None:
        raise InputError(
            f"the address names ${{{name}}}, but the environment has no {name}: set it, as with  export {name}=…",
            parameter="table",
        )
    return found


def _secret(name: str, value: str) -> bool:
    if _VARIABLE.fullmatch(value) or name.lower() in _OPEN:
        return False
    return _SECRET_NAME.search(name) is not None


def without_password(text: str) -> str:
    """The address without passwords, tokens and keys; it opens the same table where these are given otherwise.

    What is no address comes back as it is.

    >>> without_password("postgres://me:a@b@host/db?sslmode=require&sslpassword=hush#clinic.visits")
    'postgres://me@host/db?sslmode=require#clinic.visits'
    >>> without_password("people.csv")
    'people.csv'
    """
    if "://" not in text:
        return text
    try:
        address = address_of(text)
    except InputError:
        return masked(text)
    if address.scheme.lower() in FILE_SCHEMES:
        return re.sub(rf"(?i)([?&][^=&#]*(?:{_SECRET})[^=&#]*=)[^&#]*", r"\1", text)
    kept = tuple((k, v) for k, v in address.query if not _secret(k, v))
    password = address.password
    if password is not None and not _VARIABLE.fullmatch(password):
        password = None
    return replace(address, password=password, query=kept).text


def masked(text: str) -> str:
    """Text in which no address carries a user, a password or a setting; too much is masked rather than too little.

    >>> masked("could not open postgres://me:p@ss/w#rd@host/db?password=hush#visits")
    'could not open postgres://…@host/db?…#visits'
    """
    if "://" in text:
        text = re.sub(r"://.*@", "://…@", text, flags=re.DOTALL)
        text = re.sub(r"(://[^?\s]*)\?[^\s#]*", r"\1?…", text)
    return re.sub(r"(?i)\b(\w*(?:password|passwd|pwd|secret|token|access_key|api_?key)\w*=)[^\s&#]+", r"\1…", text)


#: The environment variable with the password of a database.
PASSWORD_VARIABLE = "EPSILENS_PASSWORD"

_paused: list[tuple[Callable[[], None], Callable[[], None]]] = []


@contextmanager
def pausing(stop: Callable[[], None], start: Callable[[], None]) -> Iterator[None]:
    """While somebody is asked, ``stop`` has taken away what else moves on the terminal."""
    _paused.append((stop, start))
    try:
        yield
    finally:
        _paused.pop()


def found_password(whose: str) -> str | None:
    """The password for ``whose`` (a user at a host), None where there is none and nobody to ask.

    One in the address comes first, then what the driver finds by itself (``PGPASSWORD``, ``~/.pgpass``), then
    ``EPSILENS_PASSWORD``; a prompt is last, and only on a terminal. It is kept nowhere.
    """
    given = os.environ.get(PASSWORD_VARIABLE)
    if given is not None:
        return given
    if sys.stdin is None or sys.stderr is None or not sys.stdin.isatty():
        return None
    from getpass import getpass

    for stop, _ in _paused:
        stop()
    try:
        return getpass(f"Password for {whose}: ", stream=sys.stderr)
    except EOFError:
        return None
    finally:
        for _, start in _paused:
            start()
