"""Whole releases by three processes at once, some killed with SIGKILL at a chosen step or at any moment.

Two of them release one plan, under two titles, and the third another, all into one account; each writes a file.

``reserving``   the reservation is written, not committed    nothing is spent
``drawing``     reserved, nothing drawn                      spent, and nothing is out
``publishing``  drawn, the answers written, not committed    spent, and nothing is out
``published``   the answers are in the ledger                spent, no file
``writing``     the file is written under another name       spent, no file
``renamed``     the file is there                            spent

Whatever happens, no answer is out that is not in the ledger, a file is whole or absent, and running a plan again gives
what was published of it and spends nothing.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.ledger.trials import Doom, Tell, Trial, forked, watch

import epsilens as el
from epsilens.assessment.assess import Assessment
from epsilens.errors import EpsilensError, LimitError
from epsilens.ledger import store
from epsilens.ledger.account import Account
from epsilens.ledger.store import EntryKind, LedgerEntry
from epsilens.plan.file import read_release
from epsilens.publish import release as module

WRITERS = 3
STEPS = ("reserving", "drawing", "publishing", "published", "writing", "renamed")
_EPSILON = 0.1
_LEFT = ("reserving",)  # nothing is spent
_OPEN = ("drawing", "publishing")


def _plan(seed: int, which: int, title: str) -> dict[str, Any]:
    return {
        "title": title,
        "data": {"table": "t", "name": f"trial {seed}", "version": which},
        "queries": [{"count": True}],
        "mechanism": {"epsilon": _EPSILON},
        "limits": {},
    }


@cache
def _assessed() -> Assessment:
    """Once: what an assessment says of such a plan is not what is tried. All that a release imports is there then."""
    plan, rows = _plan(0, 0, ""), {"x": [1, 2, 3]}
    found = el.assess(plan, table=rows)
    with tempfile.TemporaryDirectory() as folder:
        el.release(plan, table=rows, ledger=f"{folder}/ledger.db", output=f"{folder}/out.json", assessment=found)
    return found


def run_release_trial(url: str, seed: int, folder: Path) -> Trial:
    """One trial, on an account and with data of its own."""
    draw = random.Random(seed)
    trial = Trial(seed, room=draw.randint(1, 3))
    people, place = f"release trial {seed}", folder / f"trial {seed}"
    place.mkdir()
    el.Ledger(url).limit(people, epsilon=trial.room * _EPSILON)
    _assessed()
    dooms = [Doom(draw.choice(STEPS), 1) if draw.random() < 0.85 else None for _ in range(WRITERS)]
    at_random = [draw.random() if doom is None and draw.random() < 0.8 else None for doom in dooms]
    writers = [forked(k, partial(_release, url, people, seed, k, place, doom)) for k, doom in enumerate(dooms)]
    watch(writers, at_random, trial)
    _judge(url, people, place, trial)
    for which in (0, 1):
        _again(url, people, place, which, trial)
    if "://" not in url:
        _copied(url, people, place, trial)
    trial.wrong += [f"line {trouble.line}: {trouble.what}" for trouble in el.Ledger(url).check()]
    return trial


# -- a release ----------------------------------------------------------------------------------------------------


def _release(url: str, people: str, seed: int, k: int, place: Path, doom: Doom | None, tell: Tell) -> None:
    if doom is not None:
        _watched(doom, tell)
    _run(_plan(seed, k // 2, f"{k}"), [seed, *range(20)], url, people, place / f"{k}.json", tell)


def _run(plan: dict[str, Any], rows: list[int], url: str, people: str, output: Path, tell: Tell) -> None:
    said = replace(_assessed(), release=read_release(plan))
    try:
        made = module.release(
            plan, table=pa.table({"x": rows}), ledger=url, account=people, output=output, assessment=said
        )
    except LimitError:
        tell("refused")
    except EpsilensError as error:
        tell("unpublished" if "never published" in str(error) else "failed", error=str(error), trace="")
    else:
        tell("out", kind=made.kind, release=made.release, answers=[a.answer for a in made.answers])


def _watched(doom: Doom, tell: Tell) -> None:
    """Steps of a release, where it may die."""
    append, drawn, save = store.Store.append, vars(module)["draw_answers"], vars(module)["save"]
    rename = os.replace

    def appended(self: store.Store, connection: Any, entry: LedgerEntry) -> None:
        append(self, connection, entry)
        if entry.kind is EntryKind.RESERVED:
            doom.at("reserving", tell)
        if entry.kind is EntryKind.PUBLISHED:
            doom.at("publishing", tell)

    def drawing(*given: Any) -> Any:
        doom.at("drawing", tell)
        return drawn(*given)

    def saved(*given: Any) -> None:
        doom.at("published", tell)
        save(*given)

    def renamed(*given: Any) -> None:
        doom.at("writing", tell)
        rename(*given)
        doom.at("renamed", tell)

    for owner, name, instead in (
        (store.Store, "append", appended), (module, "draw_answers", drawing), (module, "save", saved),
        (os, "replace", renamed),
    ):  # fmt: skip
        setattr(owner, name, instead)


# -- the observer -------------------------------------------------------------------------------------------------


def _answers(account: Account) -> dict[str, list[float]]:
    """What the ledger says is out, by release."""
    out = [one for one in account.releases if one.state is EntryKind.PUBLISHED]
    return {one.id: [a["answer"] for a in (one.published or {})["answers"]] for one in out}


def _judge(url: str, people: str, place: Path, trial: Trial) -> None:
    account = el.Ledger(url).account(people)
    by_title = {one.title: one for one in account.releases}
    known, wrong = _answers(account), trial.wrong
    trial.reserved += len(account.counted)
    if len(account.counted) > trial.room:
        wrong.append(f"{len(account.counted)} are counted, {trial.room} had room")
    if abs(account.spent.epsilon - _EPSILON * len(account.counted)) > 1e-12:
        wrong.append("what is spent is not what was reserved")
    for told in trial.told:
        what, own = told["what"], by_title.get(str(told["writer"]))
        if what == "died":
            step = told["step"]
            trial.died[step] = trial.died.get(step, 0) + 1
            # Who was given another's answers has none of their own in the ledger, and dies in writing them.
            fits = own is None if step in _LEFT else own is not None and own.state is EntryKind.RESERVED
            if step not in (*_LEFT, *_OPEN):
                fits = own is None or own.state is EntryKind.PUBLISHED
            if not fits:
                wrong.append(f"{told['writer']} died {step} and is {own and own.state}")
        elif what == "failed":
            wrong.append(f"a release failed: {told['error']} {told['trace']}")
        elif what == "refused":
            trial.refused += 1
        elif what == "out" and known.get(told["release"]) != told["answers"]:
            wrong.append(f"{told['writer']} has answers that the ledger has not")
    for path in place.iterdir():
        _whole(path, known, trial)


def _whole(path: Path, known: dict[str, list[float]], trial: Trial) -> None:
    """A file is whole; what was to be one, and was left by somebody who died, may be less but not more."""
    try:
        said = json.loads(path.read_bytes())
    except ValueError:
        if not path.name.startswith("."):
            trial.wrong.append(f"{path.name} is not whole")
        return
    if known.get(said["release"]) != [one["answer"] for one in said["answers"]]:
        trial.wrong.append(f"{path.name} has answers that the ledger has not")


def _again(url: str, people: str, place: Path, which: int, trial: Trial) -> None:
    """The same plan once more, on other data: what was published last, and nothing is spent; else nothing is out."""
    before = el.Ledger(url).account(people)
    heard = Trial(trial.seed, trial.room)
    plan, output = _plan(trial.seed, which, "again"), place / f"again {which}.json"
    watch([forked(9, lambda tell: _run(plan, [trial.seed], url, people, output, tell))], [None], heard)
    after = el.Ledger(url).account(people)
    trial.again += 1
    mine = [one for one in before.counted if one.body["plan"]["data"]["version"] == str(which)]
    out = [one for one in mine if one.state is EntryKind.PUBLISHED]
    [told] = heard.told or [{"what": "silent"}]
    if out:
        fits = told["what"] == "out" and told["kind"] == "saved" and told["release"] == out[-1].id
        fits = fits and told["answers"] == _answers(before)[out[-1].id] and len(after.counted) == len(before.counted)
    elif mine:
        fits = told["what"] == "unpublished" and len(after.counted) == len(before.counted)
    elif len(before.counted) < trial.room:
        fits = told["what"] == "out" and told["kind"] == "release" and len(after.counted) == len(before.counted) + 1
    else:
        fits = told["what"] == "refused" and len(after.counted) == len(before.counted)
    if not fits:
        trial.wrong.append(f"once more: {told} after {[(one.title, one.state) for one in mine]}")
    for path in place.iterdir():
        _whole(path, _answers(after), trial)


def _copied(url: str, people: str, place: Path, trial: Trial) -> None:
    """A copy of the file, with what SQLite keeps beside it, is the same ledger: under the same key, nothing lost."""
    for path in Path(url).parent.glob(Path(url).name + "*"):
        shutil.copy(path, place / path.name)
    here, there = el.Ledger(url), el.Ledger(place / Path(url).name)
    same = there.export() == here.export() and there.keyed("a") == here.keyed("a")
    if not same or there.account(people).spent != here.account(people).spent:
        trial.wrong.append("a copy is not the same ledger")
