"""What a worker does for a release: say what it would publish and spend; then, once that is confirmed, make it.

The order is the library's (:mod:`epsilens.publish.release`): the plan is assessed once more, the room in the ledger is
taken, and only then noise is drawn. From its beginning to its end nothing of ours ends the process.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import EpsilensError, InputError
from .tasks import Work, planned

if TYPE_CHECKING:
    from ..publish.published import Published


_SYMBOLS = {"epsilon": "ε", "psi": "ψ", "rho": "ρ"}


def amount_of(spent: Any, limited: tuple[str, ...]) -> str:
    """What a release spends, in ε where that has a price and in whatever is limited.

    >>> amount_of({"epsilon": 0.48, "psi": 0.25686, "rho": 0.03}, ("psi",))
    'ε = 0.48, ψ = 0.2569'
    >>> amount_of({"epsilon": None, "psi": 0.25686, "rho": 0.03}, ())
    'ψ = 0.2569'
    """
    named = [name for name in _SYMBOLS if spent[name] is not None and (name == "epsilon" or name in limited)]
    return ", ".join(f"{_SYMBOLS[name]} = {spent[name]:.4g}" for name in named or ["psi"])


def _offer(work: Work) -> dict[str, Any]:
    """What would be released and spent; what stands against it is raised."""
    from ..ledger.ledger import Ledger
    from ..plan.read import as_written
    from ..publish.release import release
    from ..show.presenters import document
    from ..show.published import PLAN
    from ..show.render import html

    request = work.request
    plan, book = as_written(planned(request)), Ledger(request["ledger"])
    given: dict[str, Any] = {"people": request["people"], "part": request["part"] or None, "dry_run": True}
    account = book.account(request["people"])
    found = book.saved(request["people"], plan.identity())
    made = release(plan, ledger=book, **given)
    shown = document(made)
    shown = replace(shown, sections=tuple(section for section in shown.sections if section.heading != PLAN))
    limited = () if account.limits is None else account.limits.currencies
    return {
        "title": made.title,
        "fragment": "\n".join(html.sections(shown)),
        "amount": amount_of(made.spent, limited),
        "people": account.people,
        "partition": "" if account.limits is None else account.limits.partition,
        "assessed": plan.digest(),
        "before": found.at if found is not None else "",
    }


def _release(work: Work) -> dict[str, Any]:
    """The answers, to show and to keep. ``spent`` says of an error whether the ledger counts it."""
    from ..assessment.assessment import assess
    from ..ledger.ledger import Ledger
    from ..plan.read import as_written
    from ..publish.release import release

    request = work.request
    plan, book = as_written(planned(request)), Ledger(request["ledger"])
    if plan.digest() != request["assessed"]:
        raise InputError("the plan is not the one that was assessed: assess it again", parameter="yaml")
    people = request["people"]
    with work.undisturbed:
        known = {one.id for one in book.account(people).releases}
        table = work.table()
        try:
            found = assess(plan, table=table, progress=work.tell)
            made = release(
                plan, table=table, ledger=book, people=people, part=request["part"] or None, assessment=found,
                other_people=bool(request.get("other_people")), progress=work.tell,
            )  # fmt: skip
        except EpsilensError as error:
            spent = any(one.id not in known for one in book.account(people).counted)
            about = error.parameter if isinstance(error, InputError) else ""
            return {"error": str(error), "status": 422, "parameter": about, "spent": spent}
        return _shown(made, amount_of(made.spent, ()))


def _shown(made: Published, amount: str) -> dict[str, Any]:
    from ..publish.files import Form, content_of
    from ..show.presenters import document
    from ..show.render import html

    return {
        "title": made.title,
        "saved": made.kind == "saved",
        "at": made.at,
        "amount": amount,
        "people": made.people,
        "head": made.head,
        "fragment": "\n".join(html.sections(document(made))),
        "files": {form.value: base64.b64encode(content_of(made, form)).decode() for form in Form},
    }


RELEASING: dict[str, Callable[[Work], dict[str, Any]]] = {"offer": _offer, "release": _release}
