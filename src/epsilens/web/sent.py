"""What a form of the Assess view sent: its entries, and the file that came with it or was brought before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from ..errors import EpsilensError
from .refused import Refused
from .uploads import Upload

#: Entries that are chosen from a table's columns, whatever these are called.
_COLUMN = re.compile(r"person|unit|related|q\d+_by|\w+_column")


@dataclass
class Sent:
    """Entries that say something; ``problem`` is why the file that came with them was refused."""

    given: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    upload: Upload | None = None
    problem: EpsilensError | None = None


def texts(entries: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The entries that say something, with line breaks as we write them; names of columns keep their blanks.

    >>> texts([("title", " x "), ("q0_column", " Age"), ("error", " ")])
    {'title': 'x', 'q0_column': ' Age'}
    """
    said = ((k, v.replace("\r\n", "\n")) for k, v in entries if isinstance(v, str) and v.strip())
    return {k: v if _COLUMN.fullmatch(k) else v.strip() for k, v in said}


def wants_json(request: Request) -> bool:
    """Whether a script asks."""
    return "application/json" in request.headers.get("accept", "")


async def sent_form(request: Request, *, need_file: bool = False) -> Sent:
    """Read a form, and keep the file that comes with it."""
    sent = Sent()
    if "multipart/form-data" in request.headers.get("content-type", ""):
        try:
            sent.upload = await request.app.state.uploads.receive(request, need=need_file)
        except Refused as error:
            sent.problem = error
        entries = list(getattr(request.state, "fields", ()))
    else:
        form = await request.form(max_files=0, max_fields=4_000, max_part_size=1_000_000)
        entries = [(k, v) for k, v in form.multi_items() if isinstance(v, str)]
    sent.given = texts(entries)
    sent.lists = {"quasi": [v.replace("\r\n", "\n") for k, v in entries if k == "quasi"]}
    if sent.upload is None and sent.problem is None and sent.given.get("file"):
        sent.upload = request.app.state.uploads.get(sent.given["file"], request.state.visitor)
    return sent
