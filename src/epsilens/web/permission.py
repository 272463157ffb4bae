"""Whether anything may be released from here: only by who sits at this machine, into the ledger the server was given.

The page has no password. What it shows may be seen over a network where its owner opens it to one; what it publishes
is spent for good, so that stays with whoever can use the machine itself.
"""

from __future__ import annotations

from importlib.util import find_spec

from fastapi import Request

from ..errors import MissingExtra
from .security import is_loopback

#: Whoever comes through another server sits elsewhere.
_PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def refusal(request: Request) -> str:
    """Why nothing can be released from here, in a sentence; empty where it can."""
    state = request.app.state
    if not state.here_alone:
        return (
            "Nothing can be released from a page that is open to the network: start it without --host, or use epsilens "
            "release on the command line."
        )
    client = request.client
    if client is None or not is_loopback(client.host) or any(name in request.headers for name in _PASSED_ON):
        return "Nothing can be released over a network: open the page on the machine that it runs on."
    if state.ledger is None:
        return (
            "To release the plan from here, start the page with a ledger that counts it: epsilens serve --ledger "
            "ledger.db."
        )
    if find_spec("opendp") is None:
        return f"{MissingExtra('opendp', extra='release', purpose='A release')}."
    return ""


def ours(request: Request) -> bool:
    """Whether a form says that it was sent from our own page: a browser does, another program need not."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "").lower()
    if origin is not None:
        return origin.lower() in (f"http://{host}", f"https://{host}")
    return request.headers.get("sec-fetch-site") == "same-origin"
