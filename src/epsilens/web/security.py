"""Who may ask, and for how much: the host, the origin and the size of a request, and the headers of every answer.

The server listens on the loopback interface, where any web page the user visits can send requests too. Three checks
keep them out: the Host header must name this machine (a rebound DNS name does not), a request that changes or computes
something from a form must come from our own pages, and other sites may only link here, not embed or fetch.

Sizes, counts and seconds are limited so that no request can hold the server. The library itself allows far more; the
sentences say what to do instead, which is to use the command line.
"""

from __future__ import annotations

import functools
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import InputError

if TYPE_CHECKING:
    from ..experiment import Experiment

__all__ = ["Guard", "Limits", "allowed_hosts", "bounded", "check_texts", "is_loopback"]


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": _CSP.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    # Not no-referrer: browsers then call the origin of our own forms "null".
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
}


def allowed_hosts(host: str) -> frozenset[str]:
    """The names this server answers to when it listens on ``host``."""
    names = {"localhost", "127.0.0.1", "::1", host.strip("[]").lower()}
    if not is_loopback(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names - {"0.0.0.0", "::"})


def is_loopback(host: str) -> bool:
    """Whether a host is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """ASGI middleware with the checks above; ``most`` is the largest body by path, the default under ``""``."""

    def __init__(self, app: App, hosts: frozenset[str], open_to_network: bool, most: dict[str, int]) -> None:
        self.app, self.hosts, self.open, self.most = app, hosts, open_to_network, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse in a sentence."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {k.lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, scope["path"], *refusal)
            return
        limit = self.most.get(scope["path"], self.most[""])
        over = {"": False}
        taken = 0

        async def measured() -> Message:
            # A body sent in pieces has no stated length: count it, and let it end where the limit is.
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                over[""] = True
                return {"type": "http.disconnect"}
            return message

        started = False

        async def secured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                if over[""]:
                    return
                started = True
                present = {k.lower() for k, _ in message["headers"]}
                message["headers"] = [*message["headers"], *((k, v) for k, v in _HEADERS.items() if k not in present)]
            if not over[""]:
                await send(message)

        try:
            await self.app(scope, measured, secured)
        except Exception:
            if not over[""]:
                raise
        if over[""] and not started:
            await _refuse(send, scope["path"], 413, _too_large(limit))

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str] | None:
        try:
            name = (urlsplit(f"//{headers.get(b'host', '')}").hostname or "").lower()
        except ValueError:
            name = ""
        if name not in self.hosts and not (self.open and _is_address(name)):
            return 400, "This server does not answer to that host name: open it by the address it printed."
        site, mode = headers.get(b"sec-fetch-site", "none"), headers.get(b"sec-fetch-mode", "navigate")
        if site in ("cross-site", "same-site") and not (mode == "navigate" and scope["method"] in ("GET", "HEAD")):
            return 403, "Other sites may link to this page, but not read or use it."
        origin = headers.get(b"origin")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and origin is not None:
            ours = headers.get(b"host", "").lower()
            if origin.lower() not in (f"http://{ours}", f"https://{ours}"):
                return 403, "The form was sent from another site: open this page and send it from here."
        length = headers.get(b"content-length", "0")
        limit = self.most.get(scope["path"], self.most[""])
        if not length.isdigit() or int(length) > limit:
            return 413, _too_large(limit)
        return None


def _is_address(name: str) -> bool:
    """A literal address cannot be rebound; a DNS name can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _too_large(limit: int) -> str:
    size = f"{limit / 1e6:g} MB"
    return f"The request is larger than {size}: use the command line, which reads tables of any size."


async def _refuse(send: Send, path: str, status: int, sentence: str) -> None:
    api = path.startswith("/api/")
    text = json.dumps({"schema": 1, "error": sentence, "field": None}) if api else f"{sentence}\n"
    body = text.encode()
    headers = [
        (b"content-type", b"application/json" if api else b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_HEADERS.items(),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


#: Whole-number mechanisms enumerate their outcomes: these keep one view under a few hundredths of a second.
LARGEST = {
    "sigma": {"discrete_gaussian": 1_000.0},
    "sensitivity": {"geometric": 10_000.0, "discrete_gaussian": 10_000.0},
    "steps": {"dpsgd": 1e6},
}
#: Little noise on rare samples makes brackets slow to close.
LEAST = {"sigma": {"dpsgd": 0.3}, "rate": {"dpsgd": 1e-6}, "width": {"dpsgd": 1e-4}}
#: Beyond these nothing can be told apart any more; δ may be smaller, a shift may be 0.
SMALLEST, GREATEST = 1e-12, 1e12
MOST_EPSILON = 700.0
MOST_SCORES = 1_000
MOST_ANSWERS = 1e9
MOST_TEXT = 200
MOST_LIST = 20_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the server as a whole."""

    upload_bytes: int = 200_000_000
    unpacked_bytes: int = 1_000_000_000
    body_bytes: int = 1_000_000
    assess_seconds: float = 60.0
    assess_memory: int = 3_000_000_000
    assessments: int = 2
    url_yaml: int = 6_000


def check_texts(given: Mapping[str, str]) -> None:
    """Refuse values far longer than any number, before anything parses them."""
    for name, value in given.items():
        most = MOST_LIST if name.startswith("scores") else MOST_TEXT
        if len(value) > most:
            raise InputError(f"{name} has {len(value)} characters: give at most {most}", parameter=name)


def bounded(name: str, build: Callable[..., Experiment]) -> Callable[..., Experiment]:
    """The mechanism, refusing what takes the server too long; a search stops at the same edge."""

    @functools.wraps(build)
    def within(**arguments: Any) -> Experiment:
        for parameter in ("epsilon", "scale", "sigma", "psi", "sensitivity", "stretch"):
            value = arguments.get(parameter)
            greatest = MOST_EPSILON if parameter == "epsilon" else GREATEST
            if isinstance(value, float) and (0 < value < SMALLEST or value > greatest):
                raise InputError(
                    f"{parameter} is {value:g}: give a number from {SMALLEST:g} to {greatest:g}", parameter=parameter
                )
        for parameter, most in ((p, LARGEST[p].get(name)) for p in LARGEST):
            value = arguments.get(parameter)
            if most is not None and isinstance(value, float | int) and value > most:
                raise InputError(
                    f"{parameter} is {value:g}: the page computes {name.replace('_', '-')} up to {most:g}, "
                    "so give less or use the command line",
                    parameter=parameter,
                )
        for parameter, least in ((p, LEAST[p].get(name)) for p in LEAST):
            value = arguments.get(parameter)
            if least is not None and isinstance(value, float | int) and 0 < value < least:
                raise InputError(
                    f"{parameter} is {value:g}: the page computes {name} from {least:g} on, "
                    "so give more or use the command line",
                    parameter=parameter,
                )
        for parameter in ("scores0", "scores1"):
            if len(arguments.get(parameter, ())) > MOST_SCORES:
                raise InputError(
                    f"{parameter} has more than {MOST_SCORES} scores: give fewer or use the command line",
                    parameter=parameter,
                )
        if arguments.get("k", 2) > MOST_ANSWERS:
            raise InputError(f"k is {arguments['k']:g}: give at most {MOST_ANSWERS:g}", parameter="k")
        return build(**arguments)

    return within
