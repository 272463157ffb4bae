"""``epsilens choose``: the riskiest parameter that keeps a reading under a limit."""

from __future__ import annotations

from ..catalogue.parameter import flag
from ..catalogue.said import arguments_given, find, readings_for_choose, split_limit, wanted_parameter
from ..errors import InputError
from .common import show
from .explain import knowledge_given, with_knowledge
from .options import Said, to_repeat

__all__ = ["choose"]


def choose(said: Said) -> None:
    """Find the noise that keeps a risk under a limit.

    For example: epsilens choose laplace --at-most success=0.55
    """
    mechanism = find(said["mechanism"])
    reading, limit = split_limit(said["at_most"])
    wanted = wanted_parameter(mechanism, said["parameter"], said)
    if wanted not in mechanism.takes:
        takes = ", ".join(map(flag, mechanism.takes))
        raise InputError(
            f"{said['mechanism']} has no parameter {wanted[:40]!r}: it takes {takes}", parameter="parameter"
        )
    arguments = arguments_given(mechanism, said, chosen=wanted)
    if wanted in arguments:
        raise InputError(
            f"{flag(wanted)} is given, but it is what is being chosen: leave it out or name another", parameter=wanted
        )
    readings = readings_for_choose(said)
    known = knowledge_given(said)
    if known is not None:
        readings["prior"] = known.prior
    from ..build import builder
    from ..choice.choice import choose as choose_
    from ..show.explanation import chosen, command_line

    choice = choose_(builder(mechanism), wanted, at_most=limit, reading=reading, given=arguments, **readings)
    about = with_knowledge(chosen(choice), known)
    show(about.with_command(command_line("choose", mechanism.key, to_repeat(said))), said["format"], said["output"])
