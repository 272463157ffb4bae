"""``epsilens explain`` and ``choose``: what a mechanism tells, and the noise that keeps a reading under a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..catalogue.parameter import flag
from ..catalogue.said import (
    arguments_given,
    find,
    find_explained,
    number,
    readings_for_choose,
    readings_for_explain,
    split_limit,
    wanted_parameter,
)
from ..catalogue.settings import values_said
from ..catalogue.units import in_units
from ..errors import InputError, meant
from .common import Said, show, to_repeat
from .many import sweep_choice, sweep_readings

if TYPE_CHECKING:
    from ..attacks.knowledge.knowledge import Knowledge
    from ..show.explanation import Explanation


_COEFFICIENTS = ("rho_p", "rho_c", "rho_t")


def knowledge_given(said: Said) -> Knowledge | None:
    """What the coefficients say about the prior, None if none is given; refused beside a prior."""
    rho = {k: said[k] for k in _COEFFICIENTS if said[k] is not None}
    if not rho:
        if said["less_likely"]:
            raise InputError(
                "--less-likely is given without a coefficient: give --rho-p, --rho-c or --rho-t too",
                parameter="less_likely",
            )
        return None
    if said["prior"] is not None:
        raise InputError(f"--prior and {flag(next(iter(rho)))} are both given: give the prior, or what it comes from")
    from ..attacks.knowledge.knowledge import Knowledge

    positive = "less likely" if said["less_likely"] else "more likely"
    return Knowledge.from_coefficients(**{k: number(flag(k), v, k) for k, v in rho.items()}, positive=positive)


def with_knowledge(about: Explanation, known: Knowledge | None) -> Explanation:
    """The same with a last sentence that says where the prior comes from."""
    if known is None:
        return about
    from ..show.document import Span

    return replace(about, lead=(*about.lead, Span(f" {known.sentence}")))


def explain(said: Said) -> None:
    """Say what an adversary can do with a release.

    For example: epsilens explain laplace --epsilon 1, or of a claim: epsilens explain --epsilon 8 --delta 1e-6
    """
    if said["sweep"]:
        varied = {name: repr(values[0]) for name, values in map(values_said, said["sweep"])}
        entry, named = find_explained(said["mechanism"], {**said, **varied})
        told = in_units(entry, {**said, **varied})
        sweep_readings(entry, named, {**told, **{name: said.get(name) for name in varied}})
        return
    if said["reading"] is not None:
        raise InputError("--reading goes with --sweep: every reading is shown otherwise", parameter="reading")
    entry, named = find_explained(said["mechanism"], said)
    told = in_units(entry, said)
    arguments, readings = arguments_given(entry, told), readings_for_explain(told)
    known = knowledge_given(said)
    if known is not None:
        readings["prior"] = known.prior
    from ..catalogue.mechanisms import builder
    from ..show.explanation import command_line
    from ..show.explanation import explain as explained

    about = with_knowledge(explained(builder(entry)(**named, **arguments), **readings), known)
    name = entry.key if said["mechanism"] else ""
    show(about.with_command(command_line("explain", name, to_repeat(said))), said["format"], said["output"])


def choose(said: Said) -> None:
    """Find the noise that keeps a risk under a limit.

    For example: epsilens choose laplace --at-most success=0.55
    """
    mechanism = find(said["mechanism"])
    reading, limit = split_limit(said["at_most"])
    told = in_units(mechanism, said, reading=reading)
    wanted = wanted_parameter(mechanism, said["parameter"], told)
    if wanted not in mechanism.takes:
        takes = ", ".join(map(flag, mechanism.takes))
        raise InputError(
            f"{said['mechanism']} has no parameter {wanted[:40]!r}{meant(wanted, mechanism.takes)}: it takes {takes}",
            parameter="parameter",
        )
    if said["sweep"]:
        if knowledge_given(said) is not None:
            raise InputError("--sweep does not go with coefficients of a prior: give --prior", parameter="sweep")
        sweep_choice(mechanism, wanted, told, readings_for_choose(told))
        return
    arguments = arguments_given(mechanism, told, chosen=wanted)
    if wanted in arguments:
        raise InputError(
            f"{flag(wanted)} is given, but it is what is being chosen: leave it out or name another", parameter=wanted
        )
    readings = readings_for_choose(told)
    known = knowledge_given(said)
    if known is not None:
        readings["prior"] = known.prior
    from ..calibration.choice import choose as choose_
    from ..catalogue.mechanisms import builder
    from ..show.explanation import chosen, command_line

    choice = choose_(builder(mechanism), wanted, at_most=limit, reading=reading, given=arguments, **readings)
    about = with_knowledge(chosen(choice), known)
    show(about.with_command(command_line("choose", mechanism.key, to_repeat(said))), said["format"], said["output"])
