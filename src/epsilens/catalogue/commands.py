"""The options of each command, declared once.

What speaks of a mechanism, an adversary or a reading is the parameter of :mod:`epsilens.catalogue.parameters`, in the
command's own words where these say more; what only a command has is declared here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from .mechanisms import CLAIMS, MECHANISMS, CatalogueEntry
from .parameters import CONDITIONS, PARAMETERS, Input, Panel, Parameter, option_flag
from .parsing import EXPLANATION_OPTIONS, reading_options


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter as a command takes it: needed or not, by position or by flag, once or often."""

    parameter: Parameter
    needed: bool = False
    positional: bool = False
    repeated: bool = False
    default: str | bool | None = None

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def help(self) -> str:
        """The sentence of the command's help, with what holds if the option is left out."""
        shown = f" [{self.parameter.shown}]" if self.parameter.shown else ""
        return f"{self.parameter.explained(option_flag)}{shown}."

    @property
    def metavar(self) -> str:
        """What stands for the value in help."""
        if self.parameter.metavar:
            return self.parameter.metavar
        words = {Input.NUMBERS: "LIST", Input.WORD: "WORD", Input.TEXT: "TEXT"}
        return words.get(self.parameter.kind, "NUMBER")


def _param(name: str, help: str = "", shown: str | None = None, panel: Panel | None = None) -> Option:
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


def _opt(
    name: str, help: str, metavar: str = "", panel: Panel = Panel.DATA, kind: Input = Input.TEXT, shown: str = "",
    needed: bool = False, positional: bool = False, repeated: bool = False, default: str | bool | None = None,
) -> Option:  # fmt: skip
    """A parameter that only this command has."""
    parameter = Parameter(name, help, kind, panel, shown=shown, metavar=metavar, control=None)
    return Option(parameter, needed, positional, repeated, default)


_FORMATS = "[table|json|md|html|csv|pdf]"
_FILE = _opt("output", "Write to a file instead of the terminal", "FILE", Panel.OUTPUT)
_OUTPUT = (_opt("format", "How to write the result", _FORMATS, Panel.OUTPUT, Input.WORD, default="table"), _FILE)
#: How a table is read: on which engine, and what that may take.
_READING = (
    _opt("engine", "duckdb, spark or an Ibis URL", "NAME"),
    _opt("memory", "What reading may take, 4GB say", "SIZE"),
    _opt("spill", "A folder with room for what memory does not hold", "FOLDER"),
)
_PERSON = _opt("person", "Whose row it is", "COLUMN")
_TABLE = _opt("table", "CSV, Parquet, epsilens:rand-hie or an Ibis URL", "TABLE", positional=True, needed=True)
_NOISE_WORD = "laplace, gaussian or geometric"


def _limit(help: str, needed: bool = False) -> Option:
    return _opt("at_most", help, "READING=VALUE", Panel.READING, needed=needed)


def _mechanism(claims: bool, needed: bool = True, more: str = "") -> Option:
    names = ", ".join(m.spoken for m in MECHANISMS.values())
    more = (f"; or a claim: {', '.join(CLAIMS)}" if claims else "") + more
    more += "" if needed else "; without one, --epsilon and --delta are a claim"
    return _opt("mechanism", f"{names}{more}", "MECHANISM", Panel.NOISE, positional=True, needed=needed)


def _noise(*entries: Mapping[str, CatalogueEntry]) -> tuple[Option, ...]:
    taken = {name for some in entries for entry in some.values() for name in entry.takes}
    return tuple(Option(p) for name, p in PARAMETERS.items() if name in taken)


def _panel(panel: Panel, names: tuple[str, ...]) -> tuple[Option, ...]:
    return tuple(Option(p) for p in PARAMETERS.values() if p.panel is panel and p.name in names)


def _adversary() -> tuple[Option, ...]:
    return tuple(Option(p) for p in PARAMETERS.values() if p.panel is Panel.ADVERSARY)


def _sweep(help: str) -> Option:
    return _opt("sweep", help, "NAME=LOW:HIGH:COUNT", Panel.NOISE, repeated=True)


_SETTINGS = "Two settings or more, such as laplace:epsilon=1 gaussian:psi=1 dpsgd:n=60000,batch=256,…"
_COMPARE = (
    _opt("settings", _SETTINGS, "SETTING", Panel.NOISE, positional=True, needed=True, repeated=True),
    _param("prior"),
    *_panel(Panel.READING, EXPLANATION_OPTIONS),
    _opt("chart", "Write the ROC curves too: .svg, .png, .pdf or .html", "FILE", Panel.OUTPUT),
    *_OUTPUT,
)
_READ = "success, advantage, posterior, auc, epsilon"


def _explain() -> tuple[Option, ...]:
    return (
        _mechanism(claims=True, needed=False, more="; or a published deployment, such as census-redistricting"),
        *_noise(MECHANISMS, CLAIMS),
        _sweep("Vary a parameter: 0.1:10:50 (:log for equal ratios) or a list; repeated, a grid"),
        *_adversary(),
        *_panel(Panel.READING, EXPLANATION_OPTIONS),
        _opt("reading", "With --sweep: what is read", "LIST", Panel.READING, shown=_READ),
        *_OUTPUT,
    )


def _choose() -> tuple[Option, ...]:
    return (
        _mechanism(claims=False),
        _opt("parameter", "What to choose", "NAME", Panel.NOISE, shown="epsilon"),
        *_noise(MECHANISMS),
        _sweep("Choose along a series: of the limit, success=0.51:0.9:20, or of another parameter"),
        *_adversary(),
        _limit("The limit, such as success=0.55", needed=True),
        *_panel(Panel.READING, reading_options()),
        *_OUTPUT,
    )


def _certify() -> tuple[Option, ...]:
    return (
        _mechanism(claims=False),
        *_noise(MECHANISMS),
        _opt("reading", "epsilon, delta, success, advantage or tradeoff", "WORD", Panel.READING, shown="what is given"),
        *(_param(name, shown="") for name in ("for_delta", "for_epsilon", "fpr")),
        _opt("format", "How to write it", _FORMATS, Panel.OUTPUT, Input.WORD, default="json"),
        _FILE,
    )


#: Which ledger, and whose account in it.
_LEDGER = _opt("ledger", "A file of SQLite, or postgresql://user@host/database", "URL", default="ledger.db")
_ACCOUNT = _opt("account", "Whom the releases are about", "NAME", shown="the only account")


_PART = "The part of the people it is about; it counts for everyone, since that cannot be checked"


def _ledger_add() -> tuple[Option, ...]:
    return (
        _mechanism(claims=True, needed=False),
        _LEDGER,
        _ACCOUNT,
        _opt("title", "What was released", "TEXT"),
        _opt("part", _PART, "NAME"),
        _opt("within_limits", "It is still to be released: refuse it where a limit does not allow it", kind=Input.FLAG),
        # An account is of each person, not of groups.
        *(o for o in _noise(MECHANISMS, CLAIMS) if o.name != "people"),
        _opt("times", "How often it was released, each with fresh noise", "N", Panel.NOISE, Input.WHOLE, shown="1"),
        _opt("beside", "Chance that something beside the noise gives a person away", "", Panel.NOISE, Input.NUMBER),
        _param("for_delta", "The δ at which ε is charged where the noise has none without"),
        *_OUTPUT,
    )


_LEDGER_LIMIT = (
    _LEDGER,
    _ACCOUNT,
    _opt("success", "How often an adversary may guess right, 0.65 say", panel=Panel.READING, kind=Input.NUMBER),
    _opt("epsilon", "The sum of ε", panel=Panel.READING, kind=Input.NUMBER),
    _opt("psi", "The root of the sum of ψ²", panel=Panel.READING, kind=Input.NUMBER),
    _opt("rho", "The sum of ρ, of zCDP", panel=Panel.READING, kind=Input.NUMBER),
    _opt("delta", "The sum of δ, beside each of them", panel=Panel.READING, kind=Input.NUMBER, shown="0"),
    _opt("partition", "A column that parts the people: nobody is in two parts, nor ever moves", "COLUMN"),
    *_OUTPUT,
)
_LEDGER_CHECK = (_LEDGER, _opt("head", "The hash in a file of answers: a ledger cut off at its end lacks it", "HASH"))
_LEDGER_EXPORT = (_LEDGER, _ACCOUNT, _FILE)

_DIFFERENCE = (
    _param("epsilon", "The budget of the attack", "needed without --at-most"),
    _param("sensitivity", "What the noise is calibrated to", "1"),
    _opt("noise", _NOISE_WORD, "TEXT", Panel.NOISE, Input.WORD, shown="laplace"),
    _param("delta", "δ of gaussian noise"),
    _opt("gap", "How far the target moves the answer", panel=Panel.ADVERSARY, kind=Input.NUMBER, shown="1"),
    _opt("known", "One of the two answers is known exactly", panel=Panel.ADVERSARY, kind=Input.FLAG),
    _opt("split", "Share of ε for the first answer", panel=Panel.ADVERSARY, kind=Input.NUMBER, shown="0.5"),
    _opt("queries", "How many noisy answers are combined", panel=Panel.ADVERSARY, kind=Input.NUMBER),
    _opt("targets", "How many people the answers differ by", panel=Panel.ADVERSARY, kind=Input.NUMBER, shown="1"),
    _opt("n", "For an average: people behind the known answer", panel=Panel.ADVERSARY, kind=Input.NUMBER),
    _opt("value", "For an average: the target's value", panel=Panel.ADVERSARY, kind=Input.NUMBER),
    _opt("mean", "For an average: the known answer", panel=Panel.ADVERSARY, kind=Input.NUMBER),
    _opt("bounds", "For an average", "LOW,HIGH", Panel.ADVERSARY, Input.NUMBERS),
    _opt("narrow", "For an average: the known one leaves the target out", panel=Panel.ADVERSARY, kind=Input.FLAG),
    _param("prior"),
    _limit("Choose ε by a limit"),
    _param("fpr"),
    _param("beta"),
    *_OUTPUT,
)

_TAMPER = (
    _param("epsilon", "The ε of the answer"),
    _param("sensitivity", "What the noise is calibrated to", "1"),
    _opt("noise", "laplace or gaussian", "TEXT", Panel.NOISE, Input.WORD, shown="laplace"),
    _param("delta", "δ of gaussian noise said by ε"),
    _param("scale", "Scale of laplace noise, instead of ε"),
    _param("sigma", "Standard deviation of gaussian noise, instead of ε"),
    _param("calibration"),
    _param("bias", panel=Panel.ADVERSARY),
    _param("stretch", "How much wider it makes the noise", "1", Panel.ADVERSARY),
    _param("fpr", "Share of false alarms accepted", "0.05"),
    _opt("power", "Share of false records to notice", "", Panel.READING, Input.PROBABILITY, "0.9; 0.5 without --bias"),
    _opt("published", "Published answers to test", "A,B,C", kind=Input.NUMBERS),
    _opt("expected", "What they should be: one for all, or one each", "A,B,C", kind=Input.NUMBERS),
    _opt("series", "CSV with columns published and expected", "FILE"),
    _opt("side", "Where to look: both, above or below", "TEXT", Panel.READING, Input.WORD, shown="both"),
    _opt("method", "For a series: holm, or spending while answers arrive", "TEXT", Panel.READING, Input.WORD, "holm"),
    *_OUTPUT,
)

_IDENTIFY = (
    _opt("table", "CSV, Parquet, epsilens:rand-hie or an Ibis URL; with --column", "TABLE", positional=True),
    _opt("column", "The values, one row a person; empty ones are left out", "NAME"),
    _opt("person", "Whose row it is: a person's values are added up", "NAME"),
    _opt("n", "Without a table: how many people", kind=Input.NUMBER),
    _opt("range", "Without a table: the least and largest value", "LOW,HIGH", kind=Input.NUMBERS),
    _opt("query", "sum or mean", "WORD", kind=Input.WORD, default="sum"),
    _param("epsilon", "Privacy loss", "needed without --at-most"),
    _param("delta", "δ of gaussian noise"),
    _param("sensitivity", "What the noise is calibrated to", "the largest absolute value"),
    _opt("noise", "laplace or gaussian", "WORD", Panel.NOISE, Input.WORD, default="laplace"),
    _limit("A limit: posterior=0.1, or success=0.05 with a table"),
    *_OUTPUT,
)

_SCAN = (
    _TABLE,
    _opt("quasi", "Columns an attacker may know", "A,B,C", Panel.ADVERSARY, needed=True),
    _PERSON,
    _opt("known_columns", "At most so many known", "N", Panel.ADVERSARY, Input.WHOLE),
    _opt("min_query_size", "Fewest people a query covers", "N", kind=Input.WHOLE),
    _opt("max_rows", "Most rows of one person used", "N", kind=Input.WHOLE),
    _opt("query", "A planned query; may be repeated", "TEXT", repeated=True),
    _opt("sampling_fraction", "Share of the population in the table", kind=Input.NUMBER),
    _param("epsilon", "The planned ε of each query"),
    _limit("The success tolerated, such as success=0.55"),
    _opt("quantile", "Share of people kept under it", panel=Panel.READING, kind=Input.NUMBER),
    _opt("noise", _NOISE_WORD, "TEXT", Panel.NOISE, Input.WORD, default="laplace"),
    _param("delta", "δ of gaussian noise"),
    _opt("known", "The attacker knows one of the two answers exactly", panel=Panel.ADVERSARY, kind=Input.FLAG),
    *_READING,
    _opt("show_people", "List the values of isolated people", panel=Panel.OUTPUT, kind=Input.FLAG),
    *_OUTPUT,
)

_CORRELATE = (
    _TABLE,
    _opt("columns", "The records: one column for each", "A,B,C", needed=True),
    _opt("model", "normal, table or chain", "TEXT", kind=Input.WORD, default="normal"),
    _opt("query", "sum, or linear with --weights", "TEXT", kind=Input.WORD, default="sum"),
    _opt("weights", "Weights of a linear query, one a record", "1,2,3", kind=Input.NUMBERS),
    _param("scale", "Scale of Laplace noise"),
    _param("sigma", "σ of Gaussian noise"),
    _param("epsilon", "Laplace noise for this ε; 1 by default"),
    _opt(
        "own_noise", "With --sigma: whether unknown records count as noise", "", Panel.NOISE, Input.FLAG, default=True
    ),
    _opt("bounds", "Values beyond are moved to these", "LOW,HIGH", kind=Input.NUMBERS),
    _opt("reach", "By how much a record can change", "NUMBER", kind=Input.NUMBERS),
    _opt("by", "Rows that share it are related", "COLUMN"),
    _opt("size", "Members of a group; with --by", "N", kind=Input.NUMBER),
    _PERSON,
    _opt("time", "When; a person's values over time are the records", "COLUMN"),
    _opt("confidence", "Of the interval for sampling error", panel=Panel.READING, kind=Input.NUMBER, default="0.95"),
    _opt("time_limit", "End the search with a proven bound", "SECONDS", Panel.READING, Input.NUMBER),
    *_READING,
    *_OUTPUT,
)

_NOTION_NAMES = "dp, blowfish, pufferfish, ddp, ip, mp, mi, ip-database, …"
_NOTIONS = (
    _opt("from", f"The notion that holds: {_NOTION_NAMES}", "NOTION", Panel.READING),
    _opt("to", "The notion asked about", "NOTION", Panel.READING),
    _param("epsilon", "The ε that holds, or that is wanted without --from", panel=Panel.READING),
    *(Option(p) for p in CONDITIONS.values()),
    *_OUTPUT,
)

_FIXED = {
    "compare": _COMPARE,
    "difference": _DIFFERENCE,
    "tamper": _TAMPER,
    "identify": _IDENTIFY,
    "scan": _SCAN,
    "correlate": _CORRELATE,
    "notions": _NOTIONS,
    "ledger-show": (_LEDGER, _ACCOUNT, *_OUTPUT),
    "ledger-limit": _LEDGER_LIMIT,
    "ledger-check": _LEDGER_CHECK,
    "ledger-export": _LEDGER_EXPORT,
}
_BUILT = {"explain": _explain, "choose": _choose, "certify": _certify, "ledger-add": _ledger_add}
#: The commands whose options are declared here; of two words, with a dash between them.
COMMANDS = (*_BUILT, *_FIXED)


def command_options(command: str) -> tuple[Option, ...]:
    """The options of a command; those that take a mechanism have whatever the mechanisms and readings take now."""
    return _BUILT[command]() if command in _BUILT else _FIXED[command]


class ExitCode(IntEnum):
    """How a command ended.

    >>> ExitCode.NO_SOLUTION, int(ExitCode.BAD_INPUT)
    (<ExitCode.NO_SOLUTION: 3>, 2)
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
    ExitCode.FINE: "Fine.",
    ExitCode.FAULT: "Something went wrong inside epsilens: please report it.",
    ExitCode.BAD_INPUT: "Bad input: one sentence on stderr, nothing on stdout, no file touched.",
    ExitCode.NO_SOLUTION: "Nothing satisfies the limit: the question is well put, but no parameter answers it; an "
    "assessment whose limits no ε meets is shown all the same.",
    ExitCode.EXCEEDED: "A limit is exceeded or a claim broken: an assessment, scan or account is over its limit (it is "
    "shown all the same), a release is refused (nothing is released, nothing spent), an audit refutes the claim, an "
    "answer looks tampered with, or a ledger is not as it was written.",
    ExitCode.UNWRITTEN: "What was made could not be written, on a full disk, say. A release that says so is spent and "
    "in the ledger: run it again with another --output, which costs nothing.",
    ExitCode.HUNG_UP: "Stopped by SIGHUP: the terminal was closed.",
    ExitCode.INTERRUPTED: "Stopped from the keyboard.",
    ExitCode.TERMINATED: "Stopped by SIGTERM.",
}
