"""Four writers at once, some killed with SIGKILL at a chosen step or at any moment: is anything lost or overspent?

A trial forks its writers from a process that has everything imported. Each makes a few releases: it reserves, then
publishes, withholds or gives back, and sometimes asks for what was published again. What a writer has been told it
passes on at once through a pipe, so that what it knew when it died is known. Some writers die at a chosen step:

``locked``     the ledger is locked, nothing is written      nothing may be spent
``written``    the line is written, not committed            nothing may be spent
``committed``  the line is committed, nobody has been told   it is spent
``drawing``    reserved and told                             it is spent
``closing``    the closing line is written, not committed    it is spent, and not published
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import epsilens as el
from epsilens.errors import LimitError
from epsilens.ledger import store
from epsilens.ledger.account import Spending
from epsilens.ledger.budget import Charge, charge_of
from epsilens.ledger.ledger import Reservation
from epsilens.ledger.store import EntryKind

WRITERS = 4
STEPS = ("locked", "written", "committed", "drawing", "closing")
_EACH = 0.1
_NOISE = el.laplace(epsilon=_EACH)
_CHARGE: Charge = charge_of(_NOISE)
_PATIENCE = 300.0  # seconds for one trial
Tell = Callable[..., None]


@dataclass
class Trial:
    """What happened: how many died where, and whatever is not as it should be."""

    seed: int
    room: int
    told: list[dict[str, Any]] = field(default_factory=list)
    died: dict[str, int] = field(default_factory=dict)
    reserved: int = 0
    refused: int = 0
    again: int = 0
    wrong: list[str] = field(default_factory=list)


class Doom:
    """Dies at a step, when it comes for the n-th time."""

    def __init__(self, step: str, count: int) -> None:
        self.step, self.count = step, count

    def at(self, step: str, tell: Tell, **more: Any) -> None:
        if step == self.step:
            self.count -= 1
            if self.count <= 0:
                tell("died", step=step, **more)
                os.kill(os.getpid(), signal.SIGKILL)


def run_trial(url: str, seed: int, people: str | None = None) -> Trial:
    """One trial, on an account of its own."""
    draw = random.Random(seed)
    trial = Trial(seed, room=draw.randint(2, 9))
    name = people or f"trial {seed}"
    el.Ledger(url).limit(name, epsilon=trial.room * _EACH)
    dooms = [Doom(draw.choice(STEPS), draw.randint(1, 3)) if draw.random() < 0.6 else None for _ in range(WRITERS)]
    at_random = [draw.random() * 0.25 if doom is None and draw.random() < 0.5 else None for doom in dooms]
    ledger, first = el.Ledger(url), seed * WRITERS
    writers = [forked(first + k, partial(_write, ledger, name, first + k, doom)) for k, doom in enumerate(dooms)]
    watch(writers, at_random, trial)
    _judge(url, name, trial)
    return trial


# -- a writer -----------------------------------------------------------------------------------------------------


def forked(writer: int, work: Callable[[Tell], None]) -> tuple[int, int]:
    """A process that does this work, and the end of the pipe to hear it by."""
    hear, speak = os.pipe()
    child = os.fork()
    if child:
        os.close(speak)
        return child, hear
    os.close(hear)

    def tell(what: str, **more: Any) -> None:
        os.write(speak, (json.dumps({"what": what, "writer": writer, **more}) + "\n").encode())

    try:
        work(tell)
    except BaseException as error:
        tell("failed", error=f"{type(error).__name__}: {error}", trace=traceback.format_exc()[-1500:])
    finally:
        os._exit(0)


def _write(ledger: el.Ledger, people: str, seed: int, doom: Doom | None, tell: Tell) -> None:
    draw = random.Random(seed)
    doing = {"title": "", "closing": False}
    if doom is not None:
        _watched(doom, doing, tell)
    for k in range(draw.randint(1, 4)):
        title = f"{seed}-{k}"
        doing.update(title=title, closing=False)
        plan = {"title": title}
        try:
            made = ledger.reserve(people, _NOISE, _CHARGE, title=title, plan=plan, data=people)
        except LimitError:
            tell("refused", title=title)
            continue
        assert isinstance(made, Reservation)
        if doom is not None:
            doom.at("committed", tell, title=title)
        tell("reserved", title=title)
        if doom is not None:
            doom.at("drawing", tell, title=title)
        time.sleep(draw.random() * 0.005)
        how = draw.choice(("publish", "publish", "withhold", "void"))
        doing["closing"] = True
        getattr(made, how)(**({"answers": [1, 2]} if how == "publish" else {"why": "a trial"}))
        tell(how, title=title)
        if how == "publish":
            again = ledger.reserve(people, _NOISE, _CHARGE, title=title, plan=plan, data=people)
            tell("again", title=title, same=isinstance(again, Spending) and again.title == title)


def _watched(doom: Doom, doing: dict[str, Any], tell: Tell) -> None:
    """Steps inside a transaction, where a writer may die."""
    append, lines = store.Store.append, store.Store.lines

    def looked(self: store.Store, *given: Any) -> Any:
        found = lines(self, *given)
        if not doing["closing"]:
            doom.at("locked", tell, title=doing["title"])
        return found

    def appended(self: store.Store, *given: Any) -> None:
        append(self, *given)
        doom.at("closing" if doing["closing"] else "written", tell, title=doing["title"])

    setattr(store.Store, "lines", looked)  # noqa: B010 - not a method of that class for a type checker
    setattr(store.Store, "append", appended)  # noqa: B010


# -- the observer -------------------------------------------------------------------------------------------------


def watch(writers: list[tuple[int, int]], at_random: list[float | None], trial: Trial) -> None:
    """Hear all writers to their end, and kill those whose moment has come."""
    began = time.monotonic()
    texts = {hear: b"" for _, hear in writers}
    alive, killed = dict(writers), set[int]()
    moments = {pid: at for (pid, _), at in zip(writers, at_random, strict=True) if at is not None}
    while texts:
        now = time.monotonic() - began
        for pid, at in list(moments.items()):
            if now >= at:
                del moments[pid]
                os.kill(pid, signal.SIGKILL)  # not waited for yet: the number is still its own
                killed.add(pid)
        if now > _PATIENCE:
            trial.wrong.append("a writer hangs")
            for pid in alive:
                os.kill(pid, signal.SIGKILL)
            break
        for hear in select.select(list(texts), [], [], 0.005)[0]:
            some = os.read(hear, 65536)
            if some:
                texts[hear] += some
                continue
            text = texts.pop(hear)
            os.close(hear)
            trial.told += [json.loads(line) for line in text.decode().splitlines()]
    for pid in alive:
        _, status = os.waitpid(pid, 0)
        if pid in killed and os.WIFSIGNALED(status):
            trial.died["any moment"] = trial.died.get("any moment", 0) + 1


def _judge(url: str, people: str, trial: Trial) -> None:
    ledger = el.Ledger(url)
    account = ledger.account(people)
    releases = {one.title: one for one in account.releases}
    counted = {one.title for one in account.counted}
    wrong = trial.wrong
    if len(releases) != len(account.releases):
        wrong.append("a release is there twice")
    for told in trial.told:
        what, title = told["what"], told.get("title", "")
        state = releases[title].state if title in releases else None
        if what == "died":
            trial.died[told["step"]] = trial.died.get(told["step"], 0) + 1
            if told["step"] in ("locked", "written") and title in releases:
                wrong.append(f"{title} was not committed and is there")
            if told["step"] in ("committed", "drawing", "closing") and state is not EntryKind.RESERVED:
                wrong.append(f"{title} was reserved and is {state}")
        elif what == "failed":
            wrong.append(f"a writer failed: {told['error']} {told['trace']}")
        elif what == "refused":
            trial.refused += 1
            if title in releases:
                wrong.append(f"{title} was refused and is there")
        elif what == "again":
            trial.again += 1
            if not told["same"]:
                wrong.append(f"{title} was spent again")
        elif what == "reserved":
            trial.reserved += 1
            if state is None:
                wrong.append(f"{title} was reserved and is lost")
        else:
            want = {"publish": EntryKind.PUBLISHED, "withhold": EntryKind.WITHHELD, "void": EntryKind.VOID}[what]
            if state is not want or (title in counted) is (what == "void"):
                wrong.append(f"{title} is {state} after {what}")
    if len(counted) > trial.room:
        wrong.append(f"{len(counted)} are counted, {trial.room} had room")
    # What was given back, or never taken, can still be spent: and then no more.
    for k in range(trial.room - len(counted)):
        ledger.reserve(people, _NOISE, _CHARGE, title=f"rest {k}")
    try:
        ledger.reserve(people, _NOISE, _CHARGE, title="one too many")
        wrong.append("one too many was let in")
    except LimitError:
        pass
    wrong += [f"line {trouble.line}: {trouble.what}" for trouble in ledger.check()]
    if len(ledger.account(people).counted) != trial.room:
        wrong.append("the room was not filled exactly")
