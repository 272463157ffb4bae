"""Odd plans: YAML that is nearly right, and YAML that is nothing of the kind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from epsilens.plan.file import read_release

from .watched import Tried, watched

GOOD = """title: A release
data:
  table: epsilens:rand-hie
  person: person
  max_rows: 5
  max_groups: 2
  quasi_identifiers: [age, female]
  secret: income > 5000
  read: {site: {as: category, empty: [NA]}}
queries:
- count: true
  by: site
  groups: [a, b]
- sum: mental_visits
  bounds: [0, 10]
  where: age < 30 and female = 1
- average: mental_visits
  bounds: [0, 10]
- histogram: site
  threshold: auto
- sql: select site, count(distinct person) from rand_hie where age < 30 and female = 1 group by site
  groups: [a, b]
- sql: select avg(least(greatest(income, 0), 30000)) as "Average income" from rand_hie
mechanism: {noise: laplace, epsilon: 1, split: least error}
adversary: {prior: 0.5, belief: 0.1, knows: nothing, among: 5, correlation: none}
limits: {success: 0.55, error: 0.1, roc: {fpr: 0.1, at_most: 0.2}}
"""
_SCALARS = (
    "2024-13-45", "2024-01-01", "? [a, b]", "!!int x", "!!python/object:os.system x", "&a [*a]", "*a", "<<", ".nan",
    ".inf", "-.inf", "1e999", "1" * 5000, "0x", "0o9", "1:59:59", "~", "null", "yes", "''", "[]", "{}", "[[[[1]]]]",
    "{a: {b: {c: 1}}}", "|\n  x", ">", "%", "@", "`", "\t", "\x1b[31m", "\u202e", "\ud800", "\0", "-1", "1e-320", "nan",
    "'a' * 3", "\"\\x00\"", "age < 1e999", "((((", "age in (1, 2", "select 1", "x;y", "'", "\"", "9" * 400, "1e5", "#",
    "select", "select *", "count(*)", "count(distinct age)", "from read_csv('/etc/passwd')", "join people p on 1 = 1",
    "union select 1", "(select 1)", "limit 3", "having count(*) > 1", "median(visits)", "x.y.z",
    "case when 1 then 2 end",
    "55%", "55 of 100", "group by 1", "over (partition by site)", "/* x", "-- x", "$1", "age::text", "interval '1' day",
)  # fmt: skip
_WORDS = [w.strip("-: ") for w in GOOD.replace("{", "\n").replace(",", "\n").split("\n") if ":" in w]
_KEYS = st.sampled_from(sorted({w.partition(":")[0].strip(" -[{") for w in _WORDS} | {"x", "1", "<<", ""}))
_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates() | st.binary(max_size=5)
)
_ANY = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5), max_leaves=20
)


def _mutated(chance: random.Random) -> str:
    lines = GOOD.split("\n")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        how = chance.randrange(6)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, chance.choice(lines))
        elif how == 2:
            lines[at] = lines[at].partition(":")[0] + ": " + chance.choice(_SCALARS)
        elif how == 3:
            pieces = lines[at].split(" ")
            pieces[chance.randrange(len(pieces))] = chance.choice(_SCALARS)
            lines[at] = " ".join(pieces)
        elif how == 4:
            lines[at] = " " * chance.randint(0, 6) + lines[at].strip()
        else:
            cut = chance.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + chance.choice("[]{}:,'\"#&*!|>%@`-\t\x00ε") + lines[at][cut:]
        lines = lines or [""]
    return "\n".join(lines) + "\n"


def plans(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one text for each number; each hundredth stands for a run of Hypothesis over mappings."""
    for number in numbers:
        chance = random.Random(f"{tried.seed} {number}")
        if number % 100 == 99:
            _mappings(tried, number, seconds)
            continue
        text = _mutated(chance)
        watched(tried, number, repr(text), partial(_read, text), seconds)


def _read(text: str) -> None:
    read_release(text)


def _mappings(tried: Tried, number: int, seconds: float) -> None:
    @seed(tried.seed * 1_000_003 + number)
    @settings(max_examples=40, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(_ANY)
    def each(value: object) -> None:
        watched(tried, number, repr(value), lambda: isinstance(value, dict) and read_release(value) and None, seconds)
        try:
            text = yaml.safe_dump(value, allow_unicode=True) + "\n"
        except (yaml.YAMLError, UnicodeError, ValueError):
            return
        watched(tried, number, repr(text), lambda: read_release(text) and None, seconds)

    each()
