"""Tampering in words: what false records do, how often that is noticed, what stays hidden; verdicts on answers.

One record moves an answer by its sensitivity at most; a larger bias takes several. All of it is what a defender sees
who knows what the answer should be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..attacks.tampering_detection import Detection, DetectionSeries
from ..attacks.tampering_power import TamperingTests
from ..numerics.formatting import ceil_digits, floor_digits, times
from .charts.findings import power_chart
from .document import Code, Document, Figure, Forms, Lead, Paragraph, Section, plain_table, said
from .explanation import of_experiment
from .presenters import Report, finite, to_know
from .sentences import at_most, number, small

if TYPE_CHECKING:
    from ..attacks.tampering_power import HiddenBias, HiddenLimit, Rule, Tampering


SCHEMA = 1
#: A table: its title, its head and its rows.
Rows = tuple[str, list[str], list[list[str]]]
_KNOWS = "someone who knows what it should be"
_TEST_NAMES = {"optimal": "best", "one-sided": "one-sided", "two-sided": "two-sided"}


def _moved(bias: float, stretch: float) -> str:
    """What the false records do together."""
    wide = f"make the noise {small(stretch)} times as wide" if stretch > 1 else ""
    if bias == 0:
        return f"only {wide}" if wide else "add nothing"
    does = f"add {small(bias)} to this answer" if bias > 0 else f"take {small(-bias)} from this answer"
    return f"{does} and {wide}" if wide else does


def _noise(parameters: Mapping[str, Any]) -> str:
    p = parameters
    if p["noise"] == "laplace":
        return f"Laplace noise of scale {ceil_digits(p['scale'])} (ε = {small(p['epsilon'])})"
    said = f" (ε = {small(p['epsilon'])}, δ = {small(p['delta'])})" if "epsilon" in p else ""
    return f"Gaussian noise of standard deviation {ceil_digits(p['sigma'])}{said}"


def _one(parameters: Mapping[str, Any]) -> str:
    """What one record can do; more takes several."""
    if "sensitivity" not in parameters:
        return ""
    return f"One record moves the answer by at most {small(parameters['sensitivity'])}; more takes several."


def _report(
    sentence: str,
    tables: Sequence[Rows],
    remarks: Sequence[str],
    payload: Mapping[str, object],
    found: HiddenBias | None = None,
    title: str = "Tampering",
) -> Report:
    sections = [Section(name, (plain_table(head, rows, name),)) for name, head, rows in tables]
    if found is not None:
        figure = Figure(partial(power_chart, found))
        sections.insert(0, Section("What false records move together", (figure,), forms=Forms.PAGE))
    body = Document(title, "Tampering", (Lead((said(sentence),)),), (*sections, *to_know(remarks)))
    return Report(body, {"schema": SCHEMA, "sentence": sentence, **payload, "command": ""}, overview=found)


def present(t: TamperingTests | Tampering) -> Document:
    """One bias, at the usual share of false alarms; many at once are only listed."""
    return about(t).body if isinstance(t, TamperingTests) else of_experiment(t)


def of_rule(rule: Rule) -> Document:
    """When a test raises the alarm, and how often it does; many at once are only listed."""
    if rule.many:
        return Document("Tests", "Tampering", (Code(repr(rule), command=False, forms=Forms.ALL),))
    told = f"{rule.test} test, alarm {rule.alarm} (published − expected)"
    return Document(
        "A test", "Tampering", (Paragraph(said(f"{told}: false alarms {rule.size:.6g}, power {rule.power:.6g}")),)
    )


def about(t: TamperingTests) -> Report:
    """What false records add together, and the tests for it.

    >>> import epsilens as el
    >>> print(about(el.attacks.tampering(epsilon=1.0, bias=1.0).tests(fpr=0.1)).sentence)
    False records that together add 1 to this answer would be noticed 27 times in 100 by someone who knows what it...
    """
    p, theta, fpr = t.parameters, t.stretch, t.fpr
    seen, alarms = times(given=[float(t.rules[0].power), fpr])
    sentence = (
        f"False records that together {_moved(t.bias, theta)} would be noticed {seen} by {_KNOWS}; a false alarm is "
        f"accepted {alarms}."
    )
    tests = [[_TEST_NAMES[r.test], r.alarm, number(float(r.power), fpr), number(fpr)] for r in t.rules]
    words = {
        "kl": "KL divergence, honest from tampered",
        "reverse_kl": "KL divergence, tampered from honest",
        "chernoff": "Chernoff information",
    }
    tables: list[Rows] = [
        ("Tests of this size", ["Test", "alarm at published − expected", "noticed", "false alarms"], tests),
        _size_table(t.sizes, fpr),
        ("How far apart the two worlds are", ["", "nats"], [[words[k], number(v)] for k, v in t.divergences.items()]),
    ]
    remarks = [f"{_noise(p)} hides false records as it hides people. {_one(p)}"]
    if theta > 1:
        remarks.append("The stretched noise is a model of what the false records do to the answer.")
    if t.needed is not None:
        often = times(given=[t.power])[0]
        remarks.append(
            f"To notice it at least {often}, ε would have to be {ceil_digits(t.needed)} or more."
            if t.needed
            else f"It would be noticed at least {often} at any ε."
        )
    payload = {
        "experiment": t.experiment.to_dict(),
        "fpr": fpr,
        "tests": [r.to_dict() for r in t.rules],
        "power": t.power,
        "sizes": t.sizes,
        "divergences": {k: finite(v) for k, v in t.divergences.items()},
    }
    return _report(sentence, tables, remarks, payload, t)


def _size_table(sizes: Sequence[Mapping[str, float | None]], fpr: float) -> Rows:
    def shown(size: float | None) -> str:
        return "any" if size is None else "none" if size == 0 else floor_digits(size)

    rows = [
        [times(given=[float(s["power"] or 0.0)])[0], *(shown(s[t]) for t in ("optimal", "one_sided", "two_sided"))]
        for s in sizes
    ]
    head = ["Noticed at most", "best test", "one-sided", "two-sided"]
    return f"The most false records move together, with false alarms {times(given=[fpr])[0]}", head, rows


def limits(found: HiddenLimit) -> Report:
    """How far false records can move an answer and stay hidden behind this noise."""
    p, theta, fpr, power, size = found.parameters, found.stretch, found.fpr, found.power, found.size
    seen, alarms = times(given=[power]), times(given=[fpr])
    wide = f"make the noise {small(theta)} times as wide and " if theta > 1 else ""
    accepted = f"by {_KNOWS}; a false alarm is accepted {alarms[0]}."
    if size == 0:
        sentence = f"Every false record is noticed at least {seen[0]} {accepted}"
    elif math.isinf(size):
        sentence = f"Any false records are noticed {at_most(seen[0])}{seen[0]} {accepted}"
    else:
        sentence = (
            f"False records that together {wide}move this answer by up to {floor_digits(size)} would be noticed "
            f"{at_most(seen[0])}{seen[0]}, however it is tested, {accepted}"
        )
    payload = {
        "parameters": dict(p),
        "stretch": theta,
        "fpr": fpr,
        "power": power,
        "hidden_bias": finite(size),
        "sizes": found.sizes,
    }
    remarks = (f"{_noise(p)} hides false records as it hides people. {_one(p)}",)
    return _report(sentence, [_size_table(found.sizes, fpr)], remarks, payload, found)


def price(needed: float, bias: float, theta: float, fpr: float, power: float, said: Mapping[str, object]) -> Report:
    """The ε at which false records are noticed."""
    seen, alarms = times(given=[power, fpr])
    what = _moved(bias, theta)
    if needed == 0:
        sentence = f"False records that together {what} are noticed at least {seen} at any ε"
    else:
        sentence = f"Use ε = {ceil_digits(needed)} or more to notice false records that together {what} at least {seen}"
    payload = {"epsilon": needed, "bias": bias, "stretch": theta, "fpr": fpr, "power": power, **said}
    remarks = ("A larger ε shows tampering and people alike: weigh it against what an adversary learns.",)
    told = f"{sentence}, if you know what it should be; a false alarm is accepted {alarms}."
    return _report(told, (), remarks, payload)


_ASKED = "Was it tampered with?"
_MOST_ROWS = 50
_PREMISE = (
    "The expected answer must be exact and recomputed from data that is trusted: an error in it looks like tampering."
)


def _p(log_p: float) -> str:
    """A p-value, also one that no double holds."""
    if log_p > -690:
        return number(math.exp(log_p))
    power = math.floor(log_p / math.log(10))
    return f"{math.exp(log_p - power * math.log(10)):.3g}e{power}"


def verdict(d: Detection) -> str:
    """What one published answer says.

    >>> import epsilens as el
    >>> print(verdict(el.attacks.detect(106.0, 100.0, epsilon=1.0)))
    The published answer lies 6 above the expected one: it looks tampered with. Noise alone strays so far...
    """
    off = d.difference
    where = f"{small(abs(off))} {'above' if off > 0 else 'below'} the expected one" if off else "where it was expected"
    if d.p_value < 1e-3:  # further out the table tells more than a sentence can
        strays, accepted = "fewer than 1 time in 1,000", times(given=[d.level])[0]
    else:
        strays, accepted = times(given=[d.p_value, d.level], exact=d.level > 0)
    far = {"both": "so far", "above": "so far above", "below": "so far below"}[d.side]
    told = (
        f"The published answer lies {where}: {d.verdict}. Noise alone strays {far} {strays}; a false alarm is accepted "
    )
    told += f"{accepted}."
    if d.bias is not None and d.power is not None:
        told += f" False records that add up to {small(d.bias)} would have been noticed {times(given=[d.power])[0]}."
    return told


def series_verdict(s: DetectionSeries) -> str:
    """What a series says."""
    n, found = len(s.answers), s.alarms
    share = times(given=[s.fpr])[0]
    if not found:
        first = f"None of {n} published answers points to tampering"
    else:
        which = ", ".join(str(i + 1) for i in found[:10]) + (" and others" if len(found) > 10 else "")
        first = (
            f"{len(found)} of {n} published answers look{'s' if len(found) == 1 else ''} tampered with: number {which}"
        )
    return f"{first}. Over the whole series, an honest publisher would see a false alarm {at_most(share)}{share}."


def detection(d: Detection) -> Report:
    """The sentence and the numbers behind it."""
    ends = [f"below {d.below:.6g}"] if math.isfinite(d.below) else []
    ends += [f"above {d.above:.6g}"] if math.isfinite(d.above) else []
    rows = [
        ["p-value", _p(d.log_p_value)],
        ["false alarms accepted", number(d.level)],
        ["alarm at published − expected", " or ".join(ends) or ("never" if d.level == 0 else "always")],
        ["published − expected", small(d.difference)],
        ["missed at least every other time, up to", number(d.blind_spot)],
    ]
    if d.bias is not None and d.power is not None:
        rows.append([f"share noticed of false records adding up to {small(d.bias)}", number(d.power)])
    payload = {"detection": d.to_dict() | {"blind_spot": finite(d.blind_spot)}}
    table = ("The test", ["", "value"], rows)
    return _report(verdict(d), [table], [_PREMISE], payload, title=_ASKED)


def series(s: DetectionSeries) -> Report:
    """The sentence and a row an answer; of a long series the alarms and the first ones."""
    order = [*s.alarms, *(i for i in range(len(s.answers)) if not s.answers[i].alarm)][:_MOST_ROWS]
    powered = any(d.power is not None for d in s.answers)
    head = ["Answer", "published", "expected", "p-value", "adjusted", "verdict", *(["noticed"] if powered else [])]
    rows = []
    for i in sorted(order):
        d = s.answers[i]
        row = [str(i + 1), small(d.published), small(d.expected), _p(d.log_p_value)]
        row += [number(1.0 if d.adjusted is None else d.adjusted), "alarm" if d.alarm else "quiet"]
        rows.append([*row, *([number(d.power or 0.0)] if powered else [])])
    how = {
        "holm": "Holm's step-down: the smallest p-value is compared with α/n, the next with α/(n−1), and so on",
        "spending": "answer t is tested at α/(t(t+1)), which sums to α over an endless series",
    }[s.method]
    remarks = [f"False alarms are counted by series, whatever the dependence between answers: {how}."]
    if powered:
        least = "at least this" if s.method == "holm" else "this"
        remarks.append(
            f"Noticed: {least} share of answers moved by {small(s.answers[0].bias or 0.0)} raises the alarm."
        )
    title = f"The answers ({len(rows)} of {len(s.answers)} shown)" if len(rows) < len(s.answers) else "The answers"
    tables, payload = [(title, head, rows)], {"series": s.to_dict()}
    return _report(series_verdict(s), tables, [*remarks, _PREMISE], payload, title="Were they tampered with?")


def of_detection(d: Detection) -> Document:
    """The verdict alone."""
    return Document(_ASKED, "Tampering", (Lead((said(verdict(d)),)),))


def of_series(s: DetectionSeries) -> Document:
    """The verdict and a row an answer."""
    return series(s).body
