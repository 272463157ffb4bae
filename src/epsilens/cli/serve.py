"""``epsilens serve``: the page, on this machine."""

from __future__ import annotations

import socket
import sys
from typing import Annotated

import typer

from ..errors import InputError, MissingExtra
from .console import emit

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; this machine only by default.")]
Port = Annotated[int, typer.Option("--port", metavar="NUMBER", help="0 takes any free port.")]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="URL", help="Show this ledger, and release into it what is confirmed on the page."
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]


def serve(host: Host = "127.0.0.1", port: Port = 8000, open: Open = False, ledger: LedgerOption = None) -> None:
    """Show the page: explain, choose, assess and compare in a browser.

    For example: epsilens serve --open
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port is {port}: give a number from 0 to 65535", parameter="port")
    try:
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "uvicorn", extra="web", purpose="the page") from error
    from ..web.app import create_app, server_of
    from ..web.limits import is_loopback

    kept = None
    if ledger is not None:
        from ..ledger.ledger import Ledger

        kept = Ledger(ledger)
        kept.accounts()  # told before anything is promised
    host = host.strip().removeprefix("[").removesuffix("]")
    listening = listen(host, port)
    try:
        url = address_of(host, listening.getsockname()[1])
        if not is_loopback(host):
            sys.stderr.write(
                f"--host is {host}: everyone who can reach this machine over the network can use the page, there is no "
                "password, and what they send is not encrypted; leave --host out to keep it to this machine\n"
            )
        emit(f"The page is at {url} (stop it with Ctrl+C)", None)
        if open:
            import webbrowser

            webbrowser.open(url)
        server_of(create_app(host, ledger=kept) if kept else create_app(host)).run(sockets=[listening])
    finally:
        listening.close()


def address_of(host: str, port: int) -> str:
    """What to type into a browser on this machine; a server that listens everywhere is found here too.

    >>> address_of("::1", 8000), address_of("0.0.0.0", 80)
    ('http://[::1]:8000/', 'http://127.0.0.1:80/')
    """
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, taken before anything is promised."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise InputError(
            f"--host is {host[:60]!r}: give an address of this machine, such as 127.0.0.1", parameter="host"
        ) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except PermissionError:
        made.close()
        raise InputError(
            f"--port is {port}: this port is not open to you, so give one above 1023", parameter="port"
        ) from None
    except OSError as error:
        made.close()
        import errno

        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"--port is {port}: another program uses it, so give another port or 0 for a free one", parameter="port"
            ) from None
        raise InputError(
            f"--host is {host[:60]!r}: {error.strerror}; give an address of this machine", parameter="host"
        ) from None
    return made
