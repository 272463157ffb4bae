"""Tampering in words: what false records do, how often that is noticed, what stays hidden; verdicts on answers.

One record moves an answer by its sensitivity at most; a larger bias takes several. All of it is what a defender sees
who knows what the answer should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..attacks.tampering_detection import Detection, DetectionSeries
from ..attacks.tampering_power import TESTS, boundary, epsilon_to_detect
from ..errors import NoSolutionError
from ..numerics.formatting import ceil_digits, floor_digits, times
from .charts import Chart
from .charts.findings import power_chart
from .document import Code, Document, Figure, Forms, Lead, Paragraph, Section, plain_table, said
from .explanation import of_experiment
from .presenters import Report, finite, to_know
from .sentences import at_most, number, small

if TYPE_CHECKING:
    from ..attacks.tampering_power import Rule, Tampering


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


def _unit(parameters: Mapping[str, Any]) -> float:
    return float(parameters["sigma" if parameters["noise"] == "gaussian" else "scale"])


def _report(
    sentence: str,
    tables: Sequence[Rows],
    remarks: Sequence[str],
    payload: Mapping[str, Any],
    chart: Callable[[], Chart | None] | None = None,
    title: str = "Tampering",
) -> Report:
    sections = [Section(name, (plain_table(head, rows, name),)) for name, head, rows in tables]
    if chart is not None:
        figure = Figure(chart)
        sections.insert(0, Section("What false records move together", (figure,), forms=Forms.PAGE))
    body = Document(title, "Tampering", (Lead((said(sentence),)),), (*sections, *to_know(remarks)))
    return Report(body, {"schema": SCHEMA, "sentence": sentence, **payload, "command": ""})


def present(t: Tampering) -> Document:
    """One bias, at the usual share of false alarms; many at once are only listed."""
    if t.many:
        return of_experiment(t)
    return about(t).body


def of_rule(rule: Rule) -> Document:
    """When a test raises the alarm, and how often it does; many at once are only listed."""
    if rule.many:
        return Document("Tests", "Tampering", (Code(repr(rule), command=False, forms=Forms.ALL),))
    told = f"{rule.test} test, alarm {rule.alarm} (published − expected)"
    return Document(
        "A test", "Tampering", (Paragraph(said(f"{told}: false alarms {rule.size:.6g}, power {rule.power:.6g}")),)
    )


def about(t: Tampering, fpr: float = 0.05, power: float = 0.9) -> Report:
    """What false records add together, and the tests for it.

    >>> import epsilens as el
    >>> print(about(el.attacks.tampering(epsilon=1.0, bias=1.0), fpr=0.1).sentence)
    False records that together add 1 to this answer would be noticed 27 times in 100 by someone who knows what it...
    """
    p = t.parameters
    bias, theta = float(p["bias"]), float(p["stretch"])
    rules = [t.optimal(fpr), t.one_sided(fpr), t.two_sided(fpr)]
    seen, alarms = times(given=[float(rules[0].power), float(fpr)])
    moved = _moved(bias, theta)
    sentence = (
        f"False records that together {moved} would be noticed {seen} by {_KNOWS}; a false alarm is accepted {alarms}."
    )
    tests = [[_TEST_NAMES[r.test], r.alarm, number(float(r.power), float(fpr)), number(float(fpr))] for r in rules]
    back = t.reverse()
    divergences = {"kl": t.kl(), "reverse_kl": back.kl(), "chernoff": t.chernoff()}
    words = {
        "kl": "KL divergence, honest from tampered",
        "reverse_kl": "KL divergence, tampered from honest",
        "chernoff": "Chernoff information",
    }
    sizes = _sizes(p["noise"], _unit(p), theta, fpr, tuple(sorted({0.5, power})))
    tables: list[Rows] = [
        ("Tests of this size", ["Test", "alarm at published − expected", "noticed", "false alarms"], tests),
        _size_table(sizes, fpr),
        (
            "How far apart the two worlds are",
            ["", "nats"],
            [[words[k], number(float(v))] for k, v in divergences.items()],
        ),
    ]
    remarks = [f"{_noise(p)} hides false records as it hides people. {_one(p)}"]
    if theta > 1:
        remarks.append("The stretched noise is a model of what the false records do to the answer.")
    remarks += [_epsilon_remark(p, bias, theta, fpr, power)]
    payload = {
        "experiment": t.to_dict(),
        "fpr": float(fpr),
        "tests": [r.to_dict() for r in rules],
        "power": power,
        "sizes": sizes,
        "divergences": {k: finite(float(v)) for k, v in divergences.items()},
    }
    chart = partial(power_chart, p["noise"], _unit(p), theta, fpr, abs(bias), float(rules[0].power))
    return _report(sentence, tables, [r for r in remarks if r], payload, chart)


def _sizes(
    noise: str, unit: float, theta: float, fpr: float, powers: tuple[float, ...]
) -> list[dict[str, float | None]]:  # fmt: skip
    """For each share noticed, the size at which each test reaches it; null where none does."""
    out: list[dict[str, float | None]] = []
    for p in powers:
        sizes = {t.replace("-", "_"): finite(boundary(t, noise, theta, fpr, p) * unit) for t in TESTS}
        out.append({"power": p, **sizes})
    return out


def _size_table(sizes: list[dict[str, float | None]], fpr: float) -> Rows:
    def shown(size: float | None) -> str:
        return "any" if size is None else "none" if size == 0 else floor_digits(size)

    rows = [
        [times(given=[float(s["power"] or 0.0)])[0], *(shown(s[t]) for t in ("optimal", "one_sided", "two_sided"))]
        for s in sizes
    ]
    head = ["Noticed at most", "best test", "one-sided", "two-sided"]
    return f"The most false records move together, with false alarms {times(given=[fpr])[0]}", head, rows


def _epsilon_remark(p: Mapping[str, Any], bias: float, theta: float, fpr: float, power: float) -> str:
    if p["noise"] == "gaussian" and "delta" not in p:
        return ""
    try:
        needed = epsilon_to_detect(
            bias=bias, sensitivity=p["sensitivity"], stretch=theta, noise=p["noise"], delta=p.get("delta"),
            calibration=p.get("calibration", "analytic"), fpr=fpr, power=power,
        )  # fmt: skip
    except NoSolutionError:
        return ""
    seen = times(given=[power])[0]
    if needed == 0:
        return f"It would be noticed at least {seen} at any ε."
    return f"To notice it at least {seen}, ε would have to be {ceil_digits(needed)} or more."


def limits(parameters: Mapping[str, Any], theta: float, fpr: float, power: float) -> Report:
    """How far false records can move an answer and stay hidden behind this noise."""
    p = parameters
    unit, noise = _unit(p), p["noise"]
    powers = tuple(sorted({0.1, 0.25, 0.5, 0.75, 0.9, 0.99, power}))
    sizes = _sizes(noise, unit, theta, fpr, tuple(q for q in powers if q >= fpr))
    size = boundary("optimal", noise, theta, fpr, power) * unit
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
        "sizes": sizes,
    }
    remarks = (f"{_noise(p)} hides false records as it hides people. {_one(p)}",)
    chart = partial(power_chart, noise, unit, theta, fpr, None, 0.0)
    return _report(sentence, [_size_table(sizes, fpr)], remarks, payload, chart)


def price(needed: float, bias: float, theta: float, fpr: float, power: float, said: Mapping[str, Any]) -> Report:
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


# -- was it tampered with? ----------------------------------------------------------------------------------------

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
