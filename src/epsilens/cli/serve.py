"""``epsilens serve``: the page, on this machine."""

from __future__ import annotations

import socket
from typing import Annotated

import typer

from ..errors import InputError, MissingExtra
from .common import emit

__all__ = ["listen", "serve"]

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; this machine only by default.")]
Port = Annotated[int, typer.Option("--port", metavar="NUMBER", help="0 takes any free port.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]


def serve(host: Host = "127.0.0.1", port: Port = 8000, open: Open = False) -> None:
    """Show the page: explain, choose, assess and compare in a browser.

    For example: epsilens serve --open
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port is {port}: give a number from 0 to 65535", parameter="port")
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra(error.name or "uvicorn", extra="web", purpose="the page") from error
    from ..web.app import create_app

    listening = listen(host, port)
    try:
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listening.getsockname()[1]}/"
        emit(f"The page is at {url} (stop it with Ctrl+C)", None)
        if open:
            import webbrowser

            webbrowser.open(url)
        # No access log: addresses carry what people entered.
        config = uvicorn.Config(create_app(host), log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, taken before anything is promised."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, protocol)
    except OSError:
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
