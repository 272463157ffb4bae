"""Command lines that are nearly right: a good one with words changed, or options of every kind."""

from __future__ import annotations

import random
import shlex
from collections.abc import Mapping
from typing import Any

from .plans import GOOD
from .values import text

#: What no line of output may hold.
PASSWORD = "hunter2"
#: What lies in the folder of each line.
FILES: Mapping[str, str] = {
    "people.csv": "id,age,sex\n1,20,F\n2,30,M\n3,30,F\n", "fewer.csv": "id,age,sex\n1,20,F\n2,30,M\n",
    "empty.csv": "", "plan.yaml": GOOD, "odd.yaml": "a: [",
    "small.yaml": "data: {table: people.csv, quasi_identifiers: [age, sex], person: id}\nqueries:\n- count: age < 30\n"
    "- sum: age\n  bounds: [0, 100]\nmechanism: {epsilon: 1}\n",
    "esc.csv": "a,\x1b[31mb\u202e\n1,2\n\x1b]0;x\x07,3\n", "wide.csv": ",".join(f"c{i}" for i in range(100)) + "\n",
    "kept.json": "{}", "report.json": '{"reproduce": {"release": "SHA-256 0"}}',
}  # fmt: skip
_MECHANISMS = ("laplace", "gaussian", "pure", "geometric", "approximate", "randomized-response", "staircase", "lapalce")
_ADDRESSES = (
    "duckdb", "duckdb://new.db", "sqlite://new.db", "polars", "mysql2://u:hunter2@127.0.0.1:1/x", "x://",
    "postgresql://u:hunter2@127.0.0.1:1/x", "people.csv", ".", "duckdb://people.csv",
)  # fmt: skip
_LEDGERS = (
    "ledger.db", "ledger.db", "new.db", "people.csv", ".", "/dev/null", "sqlite:///ledger.db", "nosuch/ledger.db",
    "postgresql://u:hunter2@127.0.0.1:1/x", "sqlite://", "/proc/ledger.db",
)  # fmt: skip
_OUTPUTS = (
    "out.txt", "out.csv", "out.json", "out.parquet", "out.html", "out", "out/", "people.csv", "plan.yaml", ".", "-",
    "/dev/null", "nosuch/out.txt", "/proc/out.txt", "x" * 300 + ".csv", "ledger.db",
)  # fmt: skip
_TABLES = (*FILES, "missing.csv", ".", "/dev/null", "epsilens:rand-hie")
#: Values that are right for options by these names.
_RIGHT: Mapping[str, tuple[str, ...]] = {
    "engine": _ADDRESSES, "ledger": _LEDGERS, "output": _OUTPUTS, "chart": ("out.svg", "out.png", *_OUTPUTS),
    "table": _TABLES, "d0": _TABLES, "d1": _TABLES, "assessed": _TABLES, "resume": ("kept.json", *_OUTPUTS),
    "memory": ("1GB", "1B", "100", "4 TB"), "spill": (".", "nosuch", "people.csv"), "account": ("patients", "a b", ""),
    "claim": ("epsilon=1", "gaussian --sigma 2", "laplace --epsilon 1", "gaussian", "epsilon=1,delta=0.1"),
    "command": ("cp {table} {out}", "cat {table}", "true", "false", "nosuch {out}", "cp '{table} {out}"),
    "runs": ("1", "2", "5", "20"), "jobs": ("1", "2"), "timeout": ("1", "5"), "seed": ("1", "0", "-1"),
    "host": ("127.0.0.1", "localhost", "::1", "[::1]", "0.0.0.0", "256.1.1.1", "10.255.255.1"),
    "port": ("0", "0", "0", "1", "65536", "-1"), "pair": ("add-remove", "replace"), "person": ("id", "age", "none"),
    "quasi": ("age,sex", "age", "id,age,sex", "none"), "query": ("count where age < 30", "sum age", "count where '"),
    "columns": ("age", "age,id"), "column": ("age", "id"), "paper": ("005", "liu", "li2020"),
    "sweep": ("epsilon=0.1:10:5", "epsilon=1,2", "sigma=1:2:3:log", "epsilon=1:0:-5", "x=1:2:3"),
    "at_most": ("success=0.55", "auc=0.6", "success=60%", "success=0.1", "x=1"),
    "reading": ("success", "auc,success", "x"), "mechanism": _MECHANISMS, "title": ("a", "b c"),
    "settings": ("laplace:epsilon=1", "gaussian:psi=1", "dpsgd:sigma=1,rate=0.01,steps=10", "laplace:"),
}  # fmt: skip
#: Good lines of each command.
_GOOD: Mapping[str, tuple[str, ...]] = {
    "explain": ("laplace --epsilon 1", "--epsilon 8 --delta 1e-6", "gaussian --sigma 2 --format json",
                "dpsgd --n 1000 --batch 10 --epochs 2 --sigma 1.1", "laplace --sweep epsilon=0.1:10:5 --format csv"),
    "choose": ("laplace --at-most success=0.55", "gaussian --parameter psi --at-most auc=0.6 --format md"),
    "certify": ("laplace --epsilon 1", "dpsgd --sigma 1 --rate 0.01 --steps 100 --delta 1e-5 --output out.json"),
    "compare": ("laplace:epsilon=1 gaussian:psi=1", "laplace:epsilon=1 pure:epsilon=1 --chart out.svg"),
    "init": ("people.csv --output plan2.yaml", "people.csv --output plan.yaml --force", "people.csv --format json"),
    "scan": ("people.csv --quasi age,sex", "people.csv --quasi age --person id --query 'count where age < 30'"),
    "assess": ("small.yaml --format json", "small.yaml --ledger ledger.db --account patients --format board",
               "small.yaml --output out.html --format html"),
    "release": ("small.yaml --output out.csv --account patients", "small.yaml --dry-run", "small.yaml --script",
                "small.yaml --synthetic --output out.json", "small.yaml --output out.parquet --ledger ledger.db"),
    "audit": ("small.yaml --seed 1", "small.yaml --claim epsilon=1 --pair add-remove",
              "--command 'cp {table} {out}' --claim epsilon=1 --d0 people.csv --d1 fewer.csv",
              "--command 'cp {table} {out}' --claim epsilon=1 --table people.csv --person id --resume kept2.json",
              "--catalogue nosuch", "json:dumps --claim epsilon=1 --d0 1 --d1 2 --jobs 1"),
    "correlate": ("people.csv --columns age", "people.csv --columns age,id --format json"),
    "difference": ("--epsilon 1", "--epsilon 1 --at-most success=0.55"),
    "tamper": ("--epsilon 1 --bias 2", "--epsilon 1 --published 5 --expected 3"),
    "identify": ("people.csv --column age --epsilon 1", "--n 100 --range 0:100 --epsilon 1"),
    "notions": ("--from dp --epsilon 1", "--from dp --to mi --epsilon 1 --format csv"),
    "reproduce": ("003 --output papers", "000 --format json", "003 --output out.html --format html"),
    "serve": ("--port 0", "--port 0 --ledger ledger.db", "--port 0 --open", "--host ::1 --port 0"),
    "ledger show": ("--ledger ledger.db", "--ledger ledger.db --account patients --format html"),
    "ledger add": ("laplace --epsilon 1 --ledger ledger.db --account patients --title a",),
    "ledger limit": ("--ledger ledger.db --account patients --success 0.6",),
    "ledger check": ("--ledger ledger.db", "--ledger ledger.db --head x"),
    "ledger export": ("--ledger ledger.db --account patients --output out.json",),
    "demo": ("demo", ".", "people.csv/x", "''"),
}  # fmt: skip
#: One of so many of their lines is kept.
_SLOW = {"reproduce": 40, "serve": 15, "audit": 6, "demo": 150, "release": 2}


def line(chance: random.Random, known: Mapping[str, Any]) -> list[str]:
    """The words of a line of one of the known commands, by their names."""
    name = chance.choice([*known])
    if chance.random() > 1 / _SLOW.get(name, 1):
        name = chance.choice([each for each in known if each not in _SLOW])
    if name == "demo":
        return ["demo", chance.choice(_GOOD[name]) if chance.random() < 0.1 else text(chance)]
    if name == "reproduce" and chance.random() < 0.9:
        words = [text(chance) or "x", "--format", text(chance)]
    elif chance.random() < 0.5:
        words = _changed(chance, shlex.split(chance.choice(_GOOD[name])))
        words += _options(chance, known[name], 0.02)
    else:
        words = _arguments(chance, known[name]) + _options(chance, known[name], chance.choice((0.03, 0.15)))
        if "epsilon" in {each.name for each in known[name].params} and chance.random() < 0.5:
            words += ["--epsilon", chance.choice(("1", "0.5", "8"))]
    if name == "audit":  # its own number of runs takes minutes
        words += ["--runs", chance.choice(_RIGHT["runs"])] if "--runs" not in words else []
    if name == "serve" and "--port" not in words:
        words += ["--port", "0"]
    return [*name.split(), *words]


def _changed(chance: random.Random, words: list[str]) -> list[str]:
    for _ in range(chance.randint(0, 2)):
        at = chance.randrange(len(words) + 1)
        how = chance.random()
        if how < 0.2 and at < len(words):
            del words[at]
        elif how < 0.3:
            words.insert(at, text(chance))
        elif at < len(words):
            words[at] = _said(chance, words[at - 1].lstrip("-").replace("-", "_") if at else "")
    return words


def _arguments(chance: random.Random, each: Any) -> list[str]:
    taken = [option for option in each.params if option.param_type_name == "argument"]
    words = [_said(chance, option.name) for option in taken if chance.random() < 0.9]
    return words + ([text(chance)] if chance.random() < 0.05 else [])


def _options(chance: random.Random, each: Any, share: float) -> list[str]:
    words: list[str] = []
    for option in each.params:
        if option.param_type_name == "argument" or chance.random() > share or option.name == "help":
            continue
        words.append(chance.choice(option.opts))
        if not getattr(option, "is_flag", False):
            offered = [*getattr(getattr(option, "type", None), "choices", ())]
            words.append(chance.choice(offered) if offered and chance.random() < 0.7 else _said(chance, option.name))
    return words


def _said(chance: random.Random, name: str) -> str:
    if name in ("table", "release", "plan", "what") or (name not in _RIGHT and chance.random() < 0.1):
        return chance.choice(_TABLES) if chance.random() < 0.8 else text(chance)
    return chance.choice(_RIGHT[name]) if name in _RIGHT and chance.random() < 0.7 else text(chance)
