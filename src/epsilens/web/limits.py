"""For how much one may ask: sizes, counts and seconds, so that no request can hold the server.

The library itself allows far more; the sentences say what to do instead, which is to use the command line. Who may ask
is the matter of :mod:`~epsilens.web.middleware`.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
import os
import re
import socket
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import EpsilensError, InputError

if TYPE_CHECKING:
    from ..experiment import Experiment


def allowed_hosts(host: str) -> frozenset[str]:
    """The names this server answers to when it listens on ``host``."""
    names = {"localhost", "127.0.0.1", "::1", host.strip("[]").lower()}
    if not is_loopback(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names - {"0.0.0.0", "::"})


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class RequestError(EpsilensError):
    """A refusal in a sentence; ``parameter`` is the field or the part of a release it speaks of."""

    def __init__(self, sentence: str, status: int, parameter: str = "") -> None:
        super().__init__(sentence)
        self.status, self.parameter = status, parameter


#: Whole-number mechanisms enumerate their outcomes: these keep one view under a few hundredths of a second.
LARGEST = {
    "sigma": {"discrete_gaussian": 1_000.0},
    "variance": {"skellam": 1e6},
    "sensitivity": {"geometric": 10_000.0, "discrete_gaussian": 10_000.0, "skellam": 10_000.0},
    "steps": {"dpsgd": 1e6},
    "n": {"dpsgd": 1e6},
    "epochs": {"dpsgd": 1e3},
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
class ServerLimits:
    upload_bytes: int = 200_000_000
    unpacked_bytes: int = 1_000_000_000
    body_bytes: int = 1_000_000
    assess_seconds: float = 60.0
    assess_memory: int = 3_000_000_000
    assessments: int = 2
    # readings: what one may take, how many run at a time, how many may wait
    reading_seconds: float = 20.0
    reading_memory: int = 2_000_000_000
    readers: int = min(max(os.cpu_count() or 2, 2), 4)
    readings: int = 256
    url_yaml: int = 6_000
    # a body comes at least this fast (bytes a second) after a start, never pauses longer, and comes to an end
    slowest: float = 1_000.0
    start_seconds: float = 10.0
    pause_seconds: float = 30.0
    body_seconds: float = 900.0
    # files that are kept for a visit
    receiving: int = 4
    uploads_each: int = 4
    kept_bytes: int = 1_000_000_000
    disk_spare: int = 500_000_000
    visit_seconds: float = 1_800.0
    # jobs: places of each kind, how many may wait for one, when nobody asks any more, and what is kept of answers
    looking: int = 2
    quick: int = 2
    waiting: int = 16
    abandoned_seconds: float = 30.0
    answers: int = 64
    answer_bytes: int = 100_000_000
    known: int = 16


def check_texts(given: Mapping[str, str]) -> None:
    """Refuse values far longer than any number, before anything parses them."""
    for name, value in given.items():
        most = MOST_LIST if name.startswith("scores") else MOST_TEXT
        if len(value) > most:
            raise InputError(f"{name} has {len(value)} characters: give at most {most}", name)


def limit_builder(name: str, build: Callable[..., Experiment]) -> Callable[..., Experiment]:
    """The mechanism, refusing what takes the server too long; a search stops at the same edge."""

    @functools.wraps(build)
    def within(**arguments: Any) -> Experiment:
        for parameter in ("epsilon", "scale", "sigma", "psi", "sensitivity", "stretch"):
            value = arguments.get(parameter)
            greatest = MOST_EPSILON if parameter == "epsilon" else GREATEST
            if isinstance(value, float) and (0 < value < SMALLEST or value > greatest):
                raise InputError(
                    f"{parameter} is {value:g}: give a number from {SMALLEST:g} to {greatest:g}", parameter
                )
        for parameter, most in ((p, LARGEST[p].get(name)) for p in LARGEST):
            value = arguments.get(parameter)
            if most is not None and isinstance(value, float | int) and value > most:
                raise InputError(
                    f"{parameter} is {value:g}: the page computes {name.replace('_', '-')} up to {most:g}, "
                    "so give less or use the command line",
                    parameter,
                )
        for parameter, least in ((p, LEAST[p].get(name)) for p in LEAST):
            value = arguments.get(parameter)
            if least is not None and isinstance(value, float | int) and 0 < value < least:
                raise InputError(
                    f"{parameter} is {value:g}: the page computes {name} from {least:g} on, "
                    "so give more or use the command line",
                    parameter,
                )
        for parameter in ("scores0", "scores1"):
            if len(arguments.get(parameter, ())) > MOST_SCORES:
                raise InputError(
                    f"{parameter} has more than {MOST_SCORES} scores: give fewer or use the command line", parameter
                )
        if arguments.get("k", 2) > MOST_ANSWERS:
            raise InputError(f"k is {arguments['k']:g}: give at most {MOST_ANSWERS:g}", "k")
        return build(**arguments)

    return within


def checked_answer(made: dict[str, Any]) -> dict[str, Any]:
    if "error" in made:
        raise RequestError(str(made["error"]), int(made["status"]), made.get("parameter", ""))
    return made


def sentence_of(error: EpsilensError | str) -> str:
    """The error as a sentence on the page: a capital letter and a full stop.

    >>> sentence_of("epsilon is 0: give more")
    'Epsilon is 0: give more.'
    """
    words = " ".join(str(error).split())
    return f"{words[:1].upper()}{words[1:]}."


_ROOT = Path(__file__).resolve().parents[1]
#: What a line of ours about an error looks like: nothing else of a worker's output is passed on.
LOG_LINE = re.compile(r"an? [a-z]+ failed with \w{1,80}( at epsilens(\.\w{1,40}){0,6}:\d{1,6})?")


def error_kind(error: BaseException) -> str:
    """The class of an error and the innermost place of ours it came through.

    >>> from epsilens.checks import real
    >>> try:
    ...     real("epsilon", "x")
    ... except ValueError as error:
    ...     error_kind(error).rpartition(":")[0]
    'InputError at epsilens.checks'
    """
    ours = [
        f"{'.'.join(('epsilens', *path.relative_to(_ROOT).with_suffix('').parts))}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if (path := Path(frame.filename)).is_relative_to(_ROOT)
    ]
    return f"{type(error).__name__} at {ours[-1]}" if ours else type(error).__name__


def log_line(line: str) -> None:
    logging.getLogger("epsilens.web").warning("epsilens: %s", line)
