"""The options of each command, declared once.

What speaks of a mechanism, an adversary or a reading is the parameter of :mod:`epsilens.catalogue.parameters`, in the
command's own words where these say more; what only a command has is declared here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from .mechanisms import CLAIMS, MECHANISMS
from .parameter import Kind, Panel, Parameter, flag
from .parameters import CONDITIONS, PARAMETERS
from .said import EXPLAINED, reading_options


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter as a command takes it: needed or not, by position or by flag, once or often."""

    parameter: Parameter
    needed: bool = False
    positional: bool = False
    repeated: bool = False
    default: Any = None

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def help(self) -> str:
        """The sentence of the command's help, with what holds if the option is left out."""
        shown = f" [{self.parameter.shown}]" if self.parameter.shown else ""
        return f"{self.parameter.explained(flag)}{shown}."

    @property
    def metavar(self) -> str:
        """What stands for the value in help."""
        if self.parameter.metavar:
            return self.parameter.metavar
        words = {Kind.NUMBERS: "LIST", Kind.WORD: "WORD", Kind.TEXT: "TEXT"}
        return words.get(self.parameter.kind, "NUMBER")


def _shared(name: str, help: str = "", shown: str | None = None, panel: Panel | None = None) -> Option:
    """A parameter that several commands have, in this one's words."""
    known = PARAMETERS[name]
    return Option(
        replace(
            known,
            help=help or known.help,
            shown=known.shown if shown is None and not help else shown or "",
            panel=panel or known.panel,
        )
    )


def _own(
    name: str,
    help: str,
    metavar: str = "",
    panel: Panel = Panel.DATA,
    kind: Kind = Kind.TEXT,
    shown: str = "",
    **more: Any,
) -> Option:
    """A parameter that only this command has."""
    return Option(Parameter(name, help, kind, panel, shown=shown, metavar=metavar, control=None), **more)


# -- what several commands share ----------------------------------------------------------------------------------

_OUTPUT = (
    _own("format", "How to write the result", "[table|json|md|html|csv|pdf]", Panel.OUTPUT, Kind.WORD, default="table"),
    _own("output", "Write to a file instead of the terminal", "FILE", Panel.OUTPUT),
)
#: How a table is read: on which engine, and what that may take.
_READING = (
    _own("engine", "duckdb, spark or an Ibis URL", "NAME"),
    _own("memory", "What reading may take, 4GB say", "SIZE"),
    _own("spill", "A folder with room for what memory does not hold", "FOLDER"),
)
_PERSON = _own("person", "Whose row it is", "COLUMN")
_TABLE = _own("table", "CSV, Parquet, epsilens:rand-hie or an Ibis URL", "TABLE", positional=True, needed=True)
_NOISE_WORD = "laplace, gaussian or geometric"


def _limit(help: str, **more: Any) -> Option:
    return _own("at_most", help, "READING=VALUE", Panel.READING, **more)


def _mechanism(claims: bool, needed: bool = True, more: str = "") -> Option:
    names = ", ".join(m.spoken for m in MECHANISMS.values())
    more = (f"; or a claim: {', '.join(CLAIMS)}" if claims else "") + more
    more += "" if needed else "; without one, --epsilon and --delta are a claim"
    return _own("mechanism", f"{names}{more}", "MECHANISM", Panel.NOISE, positional=True, needed=needed)


def _noise(*entries: Mapping[str, Any]) -> tuple[Option, ...]:
    taken = {name for some in entries for entry in some.values() for name in entry.takes}
    return tuple(Option(p) for name, p in PARAMETERS.items() if name in taken)


def _panel(panel: Panel, names: tuple[str, ...]) -> tuple[Option, ...]:
    return tuple(Option(p) for p in PARAMETERS.values() if p.panel is panel and p.name in names)


def _adversary() -> tuple[Option, ...]:
    return tuple(Option(p) for p in PARAMETERS.values() if p.panel is Panel.ADVERSARY)


# -- the commands -------------------------------------------------------------------------------------------------


def _sweep(help: str) -> Option:
    return _own("sweep", help, "NAME=LOW:HIGH:COUNT", Panel.NOISE, repeated=True)


def _compare() -> tuple[Option, ...]:
    return (
        _own(
            "settings", "Two settings or more, such as laplace:epsilon=1 gaussian:psi=1 dpsgd:n=60000,batch=256,…",
            "SETTING", Panel.NOISE, positional=True, needed=True, repeated=True,
        ),
        _shared("prior"),
        *_panel(Panel.READING, EXPLAINED),
        _own("chart", "Write the ROC curves too: .svg, .png, .pdf or .html", "FILE", Panel.OUTPUT),
        *_OUTPUT,
    )  # fmt: skip


def _explain() -> tuple[Option, ...]:
    noise = _noise(MECHANISMS, CLAIMS)
    named = _mechanism(claims=True, needed=False, more="; or a published deployment, such as census-redistricting")
    return (
        named, *noise, _sweep("Vary a parameter: 0.1:10:50 (:log for equal ratios) or a list; repeated, a grid"),
        *_adversary(), *_panel(Panel.READING, EXPLAINED),
        _own(
            "reading", "With --sweep: what is read", "LIST", Panel.READING,
            shown="success, advantage, posterior, auc, epsilon",
        ),
        *_OUTPUT,
    )  # fmt: skip


def _choose() -> tuple[Option, ...]:
    return (
        _mechanism(claims=False),
        _own("parameter", "What to choose", "NAME", Panel.NOISE, shown="epsilon"),
        *_noise(MECHANISMS),
        _sweep("Choose along a series: of the limit, success=0.51:0.9:20, or of another parameter"),
        *_adversary(),
        _limit("The limit, such as success=0.55", needed=True),
        *_panel(Panel.READING, reading_options()),
        *_OUTPUT,
    )


#: Which ledger, and whose account in it.
_LEDGER = _own("ledger", "A file of SQLite, or postgresql://user@host/database", "URL", default="ledger.db")
_PEOPLE = _own("people", "Whom the releases are about", "NAME", shown="the only account")


def _ledger_add() -> tuple[Option, ...]:
    return (
        _mechanism(claims=True, needed=False),
        _LEDGER,
        _PEOPLE,
        _own("title", "What was released", "TEXT"),
        _own(
            "part", "The part of the people it is about; it counts for everyone, since that cannot be checked", "NAME"
        ),
        _own("within_limits", "It is still to be released: refuse it where a limit does not allow it", kind=Kind.FLAG),
        *(
            o for o in _noise(MECHANISMS, CLAIMS) if o.name != _PEOPLE.name
        ),  # an account is of each person, not of groups
        _own("times", "How often it was released, each with fresh noise", "N", Panel.NOISE, Kind.WHOLE, shown="1"),
        _own(
            "beside", "Chance that something beside the noise gives a person away", panel=Panel.NOISE, kind=Kind.NUMBER
        ),
        _shared("for_delta", "The δ at which ε is charged where the noise has none without"),
        *_OUTPUT,
    )


_LEDGER_LIMIT = (
    _LEDGER,
    _PEOPLE,
    _own("success", "How often an adversary may guess right, 0.65 say", panel=Panel.READING, kind=Kind.NUMBER),
    _own("epsilon", "The sum of ε", panel=Panel.READING, kind=Kind.NUMBER),
    _own("psi", "The root of the sum of ψ²", panel=Panel.READING, kind=Kind.NUMBER),
    _own("rho", "The sum of ρ, of zCDP", panel=Panel.READING, kind=Kind.NUMBER),
    _own("delta", "The sum of δ, beside each of them", panel=Panel.READING, kind=Kind.NUMBER, shown="0"),
    _own("partition", "A column that parts the people: nobody is in two parts, nor ever moves", "COLUMN"),
    *_OUTPUT,
)
_LEDGER_CHECK = (_LEDGER, _own("head", "The hash in a file of answers: a ledger cut off at its end lacks it", "HASH"))
_LEDGER_EXPORT = (_LEDGER, _PEOPLE, _own("output", "Write to a file instead of the terminal", "FILE", Panel.OUTPUT))

_DIFFERENCE = (
    _shared("epsilon", "The budget of the attack", "needed without --at-most"),
    _shared("sensitivity", "What the noise is calibrated to", "1"),
    _own("noise", _NOISE_WORD, "TEXT", Panel.NOISE, Kind.WORD, shown="laplace"),
    _shared("delta", "δ of gaussian noise"),
    _own("gap", "How far the target moves the answer", panel=Panel.ADVERSARY, kind=Kind.NUMBER, shown="1"),
    _own("known", "One of the two answers is known exactly", panel=Panel.ADVERSARY, kind=Kind.FLAG),
    _own("split", "Share of ε for the first answer", panel=Panel.ADVERSARY, kind=Kind.NUMBER, shown="0.5"),
    _own("queries", "How many noisy answers are combined", panel=Panel.ADVERSARY, kind=Kind.NUMBER),
    _own("targets", "How many people the answers differ by", panel=Panel.ADVERSARY, kind=Kind.NUMBER, shown="1"),
    _own("n", "For an average: people behind the known answer", panel=Panel.ADVERSARY, kind=Kind.NUMBER),
    _own("value", "For an average: the target's value", panel=Panel.ADVERSARY, kind=Kind.NUMBER),
    _own("mean", "For an average: the known answer", panel=Panel.ADVERSARY, kind=Kind.NUMBER),
    _own("bounds", "For an average", "LOW,HIGH", Panel.ADVERSARY, Kind.NUMBERS),
    _own("narrow", "For an average: the known one leaves the target out", panel=Panel.ADVERSARY, kind=Kind.FLAG),
    _shared("prior"),
    _limit("Choose ε by a limit"),
    _shared("fpr"),
    _shared("beta"),
    *_OUTPUT,
)

_TAMPER = (
    _shared("epsilon", "The ε of the answer"),
    _shared("sensitivity", "What the noise is calibrated to", "1"),
    _own("noise", "laplace or gaussian", "TEXT", Panel.NOISE, Kind.WORD, shown="laplace"),
    _shared("delta", "δ of gaussian noise said by ε"),
    _shared("scale", "Scale of laplace noise, instead of ε"),
    _shared("sigma", "Standard deviation of gaussian noise, instead of ε"),
    _shared("calibration"),
    _shared("bias", panel=Panel.ADVERSARY),
    _shared("stretch", "How much wider it makes the noise", "1", Panel.ADVERSARY),
    _shared("alpha", "Share of false alarms accepted", "0.05"),
    _own(
        "power",
        "Share of false records to notice",
        panel=Panel.READING,
        kind=Kind.PROBABILITY,
        shown="0.9; 0.5 without --bias",
    ),
    _own("published", "Published answers to test", "A,B,C", kind=Kind.NUMBERS),
    _own("expected", "What they should be: one for all, or one each", "A,B,C", kind=Kind.NUMBERS),
    _own("series", "CSV with columns published and expected", "FILE"),
    _own("side", "Where to look: both, above or below", "TEXT", Panel.READING, Kind.WORD, shown="both"),
    _own(
        "method", "For a series: holm, or spending while answers arrive", "TEXT", Panel.READING, Kind.WORD, shown="holm"
    ),
    *_OUTPUT,
)

_IDENTIFY = (
    _own("table", "CSV, Parquet, epsilens:rand-hie or an Ibis URL; with --column", "TABLE", positional=True),
    _own("column", "The values, one row a person; empty ones are left out", "NAME"),
    _own("person", "Whose row it is: a person's values are added up", "NAME"),
    _own("n", "Without a table: how many people", kind=Kind.NUMBER),
    _own("range", "Without a table: the least and largest value", "LOW,HIGH", kind=Kind.NUMBERS),
    _own("query", "sum or mean", "WORD", kind=Kind.WORD, default="sum"),
    _shared("epsilon", "Privacy loss", "needed without --at-most"),
    _shared("delta", "δ of gaussian noise"),
    _shared("sensitivity", "What the noise is calibrated to", "the largest absolute value"),
    _own("noise", "laplace or gaussian", "WORD", Panel.NOISE, Kind.WORD, default="laplace"),
    _limit("A limit: posterior=0.1, or success=0.05 with a table"),
    *_OUTPUT,
)

_SCAN = (
    _TABLE,
    _own("quasi", "Columns an attacker may know", "A,B,C", Panel.ADVERSARY, needed=True),
    _PERSON,
    _own("known_columns", "At most so many known", "N", Panel.ADVERSARY, Kind.WHOLE),
    _own("min_query_size", "Fewest people a query covers", "N", kind=Kind.WHOLE),
    _own("max_rows", "Most rows of one person used", "N", kind=Kind.WHOLE),
    _own("query", "A planned query; may be repeated", "TEXT", repeated=True),
    _own("sampling_fraction", "Share of the population in the table", kind=Kind.NUMBER),
    _shared("epsilon", "The planned ε of each query"),
    _own("limit", "The success tolerated", "success=VALUE", Panel.READING),
    _own("quantile", "Share of people kept under it", panel=Panel.READING, kind=Kind.NUMBER),
    _own("noise", _NOISE_WORD, "TEXT", Panel.NOISE, Kind.WORD, default="laplace"),
    _shared("delta", "δ of gaussian noise"),
    _own("known", "The attacker knows one of the two answers exactly", panel=Panel.ADVERSARY, kind=Kind.FLAG),
    *_READING,
    _own("show_people", "List the values of isolated people", panel=Panel.OUTPUT, kind=Kind.FLAG),
    *_OUTPUT,
)

_CORRELATE = (
    _TABLE,
    _own("columns", "The records: one column for each", "A,B,C", needed=True),
    _own("model", "normal, table or chain", "TEXT", kind=Kind.WORD, default="normal"),
    _own("query", "sum, or linear with --weights", "TEXT", kind=Kind.WORD, default="sum"),
    _own("weights", "Weights of a linear query, one a record", "1,2,3", kind=Kind.NUMBERS),
    _shared("scale", "Scale of Laplace noise"),
    _shared("sigma", "σ of Gaussian noise"),
    _shared("epsilon", "Laplace noise for this ε; 1 by default"),
    _own(
        "own_noise",
        "With --sigma: whether unknown records count as noise",
        panel=Panel.NOISE,
        kind=Kind.FLAG,
        default=True,
    ),
    _own("bounds", "Values beyond are moved to these", "LOW,HIGH", kind=Kind.NUMBERS),
    _own("reach", "By how much a record can change", "NUMBER", kind=Kind.NUMBERS),
    _own("by", "Rows that share it are related", "COLUMN"),
    _own("size", "Members of a group; with --by", "N", kind=Kind.NUMBER),
    _PERSON,
    _own("time", "When; a person's values over time are the records", "COLUMN"),
    _own("confidence", "Of the interval for sampling error", panel=Panel.READING, kind=Kind.NUMBER, default="0.95"),
    _own("time_limit", "End the search with a proven bound", "SECONDS", Panel.READING, Kind.NUMBER),
    *_READING,
    *_OUTPUT,
)

_NOTIONS = (
    _own(
        "from",
        "The notion that holds: dp, blowfish, pufferfish, ddp, ip, mp, mi, ip-database, …",
        "NOTION",
        Panel.READING,
    ),
    _own("to", "The notion asked about", "NOTION", Panel.READING),
    _shared("epsilon", "The ε that holds, or that is wanted without --from", panel=Panel.READING),
    *(Option(p) for p in CONDITIONS.values()),
    *_OUTPUT,
)

_FIXED = {
    "difference": _DIFFERENCE,
    "tamper": _TAMPER,
    "identify": _IDENTIFY,
    "scan": _SCAN,
    "correlate": _CORRELATE,
    "notions": _NOTIONS,
    "ledger-show": (_LEDGER, _PEOPLE, *_OUTPUT),
    "ledger-limit": _LEDGER_LIMIT,
    "ledger-check": _LEDGER_CHECK,
    "ledger-export": _LEDGER_EXPORT,
}
_MADE = {"explain": _explain, "choose": _choose, "compare": _compare, "ledger-add": _ledger_add}
#: The commands whose options are declared here; of two words, with a dash between them.
COMMANDS = (*_MADE, *_FIXED)


def options_of(command: str) -> tuple[Option, ...]:
    """The options of a command; those that take a mechanism have whatever the mechanisms and readings take now."""
    return _MADE[command]() if command in _MADE else _FIXED[command]


class Exit(IntEnum):
    """How a command ended.

    >>> Exit.NO_SOLUTION, int(Exit.BAD_INPUT)
    (<Exit.NO_SOLUTION: 3>, 2)
    """

    FINE = 0
    FAULT = 1
    BAD_INPUT = 2
    NO_SOLUTION = 3
    EXCEEDED = 4
    UNWRITTEN = 5
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143

    @property
    def meaning(self) -> str:
        """A sentence for the docs."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.FINE: "Fine.",
    Exit.FAULT: "Something went wrong inside epsilens: please report it.",
    Exit.BAD_INPUT: "Bad input: one sentence on stderr, nothing on stdout, no file touched.",
    Exit.NO_SOLUTION: "Nothing satisfies the limit: the question is well put, but no parameter answers it; an "
    "assessment whose limits no ε meets is shown all the same.",
    Exit.EXCEEDED: "A limit is exceeded or a claim broken: an assessment, scan or account is over its limit (it is "
    "shown all the same), a release is refused (nothing is released, nothing spent), an audit refutes the claim, an "
    "answer looks tampered with, or a ledger is not as it was written.",
    Exit.UNWRITTEN: "What was made could not be written, on a full disk, say. A release that says so is spent and in "
    "the ledger: run it again with another --output, which costs nothing.",
    Exit.HUNG_UP: "Stopped by SIGHUP: the terminal was closed.",
    Exit.INTERRUPTED: "Stopped from the keyboard.",
    Exit.TERMINATED: "Stopped by SIGTERM.",
}
