"""What an assessment says before it shows a number: the verdict in words, the instruction, the sentences of the lead.

Nothing is decided here: :mod:`epsilens.assessment.verdict` decides, and this room puts it into words.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...assessment.accuracy import Cause
from ...assessment.provenance import Caution, TableCaution
from ...assessment.verdict import LEDGER, Standing
from ...catalogue.readings import find_reading
from ...data.queries import Noise
from ...numerics.formatting import count, denominator, distinguishable, frequencies, frequency, thousands, times
from ...plan.starter import yaml_string
from ...worlds import Relation
from ..document import Said, Span, flat
from ..sentences import false_alarms
from .tables import (
    FREQUENCIES,
    MOST,
    called,
    chosen,
    epsilon_down,
    epsilon_up,
    error,
    given,
    limit,
    percent,
    planned,
    reached,
    risk,
    share,
    subject,
)

if TYPE_CHECKING:
    from ...assessment.accuracy import Proposal, QueryAccuracy
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk, TypicalRisk


# How far an adversary gets, as it is told: beside the baseline, for people as they are, and for several together.


def told_beside(r: AdversaryRisk, value: float, *, guessed: bool) -> tuple[str, str]:
    """A risk and its baseline out of one denominator, in which the risk also reads otherwise than a limit it breaks.

    A limit that is kept is told as it was given: beside it a risk may read the same, never above.
    """
    beside = [r.baseline, *([r.limit] if r.limit is not None and value > r.limit else [])]
    now, without, *_ = times(value, given=beside, per="of") if guessed else frequencies(value, given=beside)
    return now, without


def exposure(a: Assessment, found: TypicalRisk) -> tuple[str, str]:
    """The typical and the most exposed person, each by itself: nobody wants 6,157 of 10,000 beside 6,162."""
    prior = a.release.adversary.prior
    typical, most = (times(p, given=[max(prior, 1 - prior)], per="of")[0] for p in (found.median, found.largest))
    return typical, most


def together(a: Assessment) -> str:
    """What several people reveal together, a household say."""
    if not a.together:
        return ""
    told = times(*(p for _, p in a.together), per="of")
    unit = a.release.data.unit
    kind = f"with the same {unit} each" if unit else "people"
    each = ", ".join(f"{k} {kind} {text}" for (k, _), text in zip(a.together, told, strict=True))
    if a.release.mechanism.neighbours is Relation.REPLACE:
        return f"Which of two sets of records is that of several people together is guessed right: {each}."
    who = f"several, those with the same {unit} each," if unit else "several people, a household say,"
    return f"Whether {who} are all in the table or none of them is guessed right: {each}."


#: A group with fewer people is marked.
FEW = 10
#: Readings that are guesses made over and over about one person, and not beliefs or shares.
_GUESSED = ("success", "attack_success", "recall", "roc", "auc")


def disclosure(
    a: Assessment, kept: str = "report", holds: str = "true answers and counts", *, larger: bool = True
) -> tuple[str, str]:
    """Whether the ε told depended on the data, and what to do about it.

    ``larger`` says whether the largest ε that is allowed is told too where the planned one stands.
    """
    decided, inside = a.verdict, f"Keep this {kept} inside the organisation: it holds {holds} of people."
    stands = decided.standing is Standing.WITHIN and not larger
    if stands or decided.alternative is None or decided.alternative != decided.recommended:
        return "The planned ε stands: it was not chosen here.", inside
    at = chosen(decided.recommended)
    if not decided.looked:
        return f"ε = {at} follows from the plan alone: no table would give another.", f"It may be published. {inside}"
    if decided.blind:
        instead = f"Publish ε = {chosen(decided.blind)} instead, which keeps the limits whatever the table holds."
    else:
        instead = "Choose one from a list fixed beforehand instead, with shares of ε that do not come from the answers."
    return (
        f"ε = {at} was found by looking at the confidential data, and tells a little about it.",
        f"One person can change it, so whoever knows the rest of the table may learn of them. {instead} {inside}",
    )


def error_at(a: Assessment, q: QueryAccuracy, epsilon: float) -> float:
    """The 95% error of a query at an ε, in the group where that is most for its answer."""
    found = a.figures[epsilon].queries[q.index].errors
    return found.worst.error if found.worst else found.scale


def headline(a: Assessment) -> str:
    """The instruction; where no row counts in any answer, it is about the data and not about ε."""
    if nobody(a):
        return "No row counts in any answer: look at the data before ε"
    now, decided = planned(a.epsilon), a.verdict
    match decided.standing:
        case Standing.IMPOSSIBLE:
            if _used_up(a):
                return "The ledger leaves no room for this release"
            return "No ε meets all limits" if _apart(a) else "No ε meets this limit"
        case Standing.OVER:
            way = "Raise" if (decided.recommended or 0.0) > a.epsilon else "Lower"
            return f"{way} ε from {now} to {chosen(decided.recommended)}"
        case Standing.CONTRADICTORY:
            return "No ε meets both limits" if decided.binding else "No ε meets this limit"
        case Standing.INACCURATE:
            return f"Raise ε from {now} to {chosen(decided.enough)}"
        case Standing.OPEN:
            return "Set a limit to choose ε"
        case Standing.WITHIN:
            return f"ε = {now} is within your limit{'s' if len(a.release.limits) > 1 else ''}"


def nobody(a: Assessment) -> bool:
    """Whether nothing was counted anywhere: an empty table, rows that belong to nobody, conditions that none meets."""
    answers = [answer for query in a.queries for answer in query.answers]
    return not any(answer.rows or answer.people for answer in answers)


def status(a: Assessment) -> str:
    """One line beneath the headline; what breaks a limit is marked by the caller (``verdict.exceeded``)."""
    if a.verdict.broken == (LEDGER,):
        return "Over what the ledger leaves" if a.verdict.possible else "Nothing is left in the ledger"
    return {
        Standing.WITHIN: "Within every limit as planned",
        Standing.OVER: "Over the risk limit as planned",
        Standing.IMPOSSIBLE: "Over the risk limit at any ε",
        Standing.INACCURATE: "Over the error limit as planned",
        Standing.CONTRADICTORY: "Over the error limit as planned",
        Standing.OPEN: "No limit was given",
    }[a.verdict.standing]


def _used_up(a: Assessment) -> bool:
    """Whether it is the ledger that leaves nothing."""
    return a.room is not None and a.room.largest == 0


def _apart(a: Assessment) -> bool:
    """Whether each limit on risk is kept by some ε, and all of them by none."""
    return all(r.largest != 0 for r in a.risks)


def kept_account(a: Assessment) -> str:
    """What the ledger says of those whom the table is about, and what it leaves."""
    room = a.room
    if room is None:
        return ""
    if room.largest is None:
        left = f"No limit is set for {room.account!r}: the ledger does not bound this release."
    elif room.largest == 0:
        left = f"For {room.account!r} nothing is left: no release of this plan fits, whatever its ε."
    else:
        left = f"For {room.account!r} this plan has room up to ε = {epsilon_down(room.largest)}."
    return f"{left} {room.sentence}"


def sentence(a: Assessment) -> str:
    """The lead as one plain text."""
    return " ".join(flat(paragraph) for paragraph in lead(a))


def lead(a: Assessment) -> tuple[Said, ...]:
    """Two paragraphs: what the adversary reaches at the planned ε, then what to do about it and its price."""
    return _consequence(a, a.leading), _advice(a)


def _consequence(a: Assessment, r: AdversaryRisk) -> Said:
    start = f"At the planned ε = {planned(a.epsilon)}, "
    if r.reading not in FREQUENCIES:
        spans = [
            Span(f"the {find_reading(r.reading).label} of the {r.name.lower().split(',')[0]} is "),
            Span(risk(r.reading, r.planned, limit=r.limit), "risk" if r.over else "strong"),
            Span(f". Without the release it would be {given(r.reading, r.baseline)}."),
        ]
        allowed = [] if r.limit is None else [Span(f" Your limit is {limit(r.reading, r.limit)}.")]
        return (Span(start), *spans, *allowed)
    now = reached(a, r, r.planned)
    told, without = told_beside(r, now, guessed=r.reading in _GUESSED)
    before, after, otherwise = phrase(a, r)
    most = "" if r.exact or " than " in told else "at most "
    spans = [Span(start + before + most), Span(told, "risk" if r.over else "strong"), Span(f"{after}. {otherwise} ")]
    if distinguishable(r.planned, r.baseline):
        spans.append(Span(f"{without}.", "strong"))
    else:
        spans += [Span(without, "strong"), Span(" too.")]
    if r.limit is not None:
        spans += [Span(" Your limit is "), Span(f"{limit(r.reading, r.limit)} of 100.", "strong")]
    if r.opposite is not None:
        there, here = frequencies(r.opposite, given=[1 - r.arguments["prior"]])
        spans.append(Span(f" Belief in the opposite can rise from {here} to {there}."))
    return (*spans, *_typical(a))


def _typical(a: Assessment) -> Said:
    """The membership test against people as they are, beside the worst-placed one."""
    found = a.typical
    if found is None:
        return ()
    middle, most = exposure(a, found)
    kind = f"groups of people with one {a.release.data.unit}" if a.release.data.unit else "people"
    who = f"the typical one of {found.people:,} {kind} of this table" if found.people > 1 else "the only one here"
    most = "" if found.people == 1 or middle == most else f", {most} for the most exposed of them"
    if a.release.mechanism.neighbours is Relation.REPLACE:
        return (Span(f" From a record that counts in no answer {who} is told right {middle}{most}."),)
    return (Span(f" The membership test is right {middle} for {who}{most}."),)


def few_people(a: Assessment) -> tuple[str, ...]:
    """The queries some of whose groups have few people: their answers are about them."""
    made = []
    for q in a.queries:
        few = sum(0 < answer.people < FEW for answer in q.answers)
        if few and len(q.answers) > 1:
            groups = "1 group" if few == 1 else f"{few:,} groups"
            have = "has" if few == 1 else "have"
            made.append(f"{groups} of {called(a, q)} {have} fewer than {FEW} people: what is said there is about them.")
    return tuple(made)


def unseen(a: Assessment) -> str:
    """The warning where a limit on right guesses cannot see what the release tells."""
    prior = a.release.adversary.prior
    if prior == 0.5 or "success" not in a.release.risk_limits:
        return ""
    base = times(given=[max(prior, 1 - prior)], per="of")[0]
    return (
        f"A guess that ignores the release is already right {base}, because the adversary’s prior is {prior:g}: a "
        "limit on right guesses sees little of what the release tells. Limit posterior instead, or roc."
    )


def cautions(a: Assessment) -> list[str]:
    """What a reader must know about the table before any number."""
    return [_CAUTIONS[warned.about](warned) for warned in a.cautions]


def _nobody(warned: TableCaution) -> str:
    return (
        f"Every row counts as a person of their own, but “{warned.column}” looks as if it said whose row it is: "
        f"{warned.count:,} people with up to {warned.most:,} rows each. If so, these numbers protect a row and not a "
        f"person, and are too small. Write person: {yaml_string(warned.column)} under data, with max_rows."
    )


def _left_out(warned: TableCaution) -> str:
    values = "1 value" if warned.count == 1 else f"{warned.count:,} values"
    return (
        f"{values} of “{warned.column}” cannot be read as data.read says, and count{'s' * (warned.count == 1)} as "
        "empty. Change how it is read, or list the texts that stand for nothing under empty."
    )


def _spelt(warned: TableCaution) -> str:
    groups = "1 group" if warned.count == 1 else f"{warned.count:,} groups"
    return (
        f"{groups} of “{warned.column}” differ{'s' * (warned.count == 1)} from another only in capitals or blanks. To "
        f"count them as one, write {yaml_string(warned.column)}: category under data.read."
    )


def _unowned(warned: TableCaution) -> str:
    rows = "1 row has" if warned.count == 1 else f"{warned.count:,} rows have"
    return (
        f"{rows} no “{warned.column}”: nobody can tell whose they are, and they are left out of every answer. Fill it "
        "in to count them."
    )


_CAUTIONS = {Caution.PERSON: _nobody, Caution.NOBODY: _unowned, Caution.UNREAD: _left_out, Caution.SPELLINGS: _spelt}


def asked_secret(a: Assessment) -> str:
    """What is guessed about a person, without a word of SQL."""
    secret = a.release.data.hidden
    if secret is None:
        return "which of two records is that of one worst-placed person"
    if secret.name:
        return f"whether “{secret.name}” is true of one worst-placed person"
    return "whether one worst-placed person has the secret"


def phrase(a: Assessment, r: AdversaryRisk) -> tuple[str, str, str]:
    """Before the number, after it, and before the baseline; an adversary unknown here is told by its name."""
    secret = a.release.data.hidden
    asked = f" {asked_secret(a)}"
    right = "Without the release they would be right"
    stay = "Without the release it would stay at"
    named = secret is not None and secret.name
    believed = f"“{named}” is true of a person" if named else "a person has the secret"
    member = " whether one worst-placed person is in the table"
    which = " which of two records is that of one worst-placed person"
    if a.release.mechanism.neighbours is Relation.REPLACE:
        member = which
    among = a.release.adversary.among or 0
    known: dict[str, tuple[str, str, str]] = {
        "membership": ("an adversary who knows every other record guesses correctly ", member, right),
        "guess": ("an adversary who knows every other record guesses correctly ", asked, right),
        "differencing-known": (
            "an adversary who can single a person out, and knows the exact answers without them, guesses correctly ",
            asked, right,
        ),
        "combined": ("an adversary who subtracts planned answers from each other guesses correctly ", asked, right),
        "differencing-noisy": (
            "an adversary with two noisy answers that differ only by one person guesses correctly ", asked, right,
        ),
        "belief": (f"an adversary’s belief that {believed} can rise to ", "", stay),
        "record": ("an adversary who knows every other record guesses correctly ", which, right),
        "record-belief": ("an adversary’s belief which of two records is a person’s can rise to ", "", stay),
        "reidentification": (
            "an attack that looks for a person’s record finds it ", "",
            "Against a release without that person it would",
        ),
        "identification": (
            f"an adversary’s belief which of {among:,} people is missing can rise to ", "", stay,
        ),
        "identification-guess": (
            "an adversary names the right one ", f" of {among:,} people who could be missing", right,
        ),
        "correlated": (
            "an adversary who knows how alike related people are guesses correctly ",
            " which of two values one person has", right,
        ),
    }  # fmt: skip
    known["informed"] = known["belief"]
    known["informed-guess"] = ("an adversary with what is known beforehand guesses correctly ", asked, right)
    at = r.arguments.get("fpr", 0.0)
    finds = (
        f"at {false_alarms(at)}, an adversary who knows every other record finds one worst-placed person ",
        "",
        "Without the release they would",
    )
    known |= {
        "membership-recall": finds,
        "membership-roc": finds,
        "membership-posterior": ("an adversary’s belief that a person is in the table can rise to ", "", stay),
        "membership-precision": (
            "of those an adversary flags, ",
            " are in the table",
            "Without the release it would be",
        ),
        "membership-auc": ("an adversary tells one worst-placed person’s presence from their absence ", "", right),
    }
    if r.key in known:
        return known[r.key]
    if r.reading == "success":
        return f"the adversary of “{r.name}” guesses correctly ", "", right
    return f"the {find_reading(r.reading).label} in “{r.name}” is ", "", "Without the release it would be"


def _advice(a: Assessment) -> Said:
    said, now, r = a.verdict.standing, planned(a.epsilon), a.leading
    if said is Standing.IMPOSSIBLE and _used_up(a):
        return (
            Span("Everything the ledger allows about these people is spent. Leave the release, or decide on another "),
            Span("limit before anything else is released: one that is raised now promises less than it says."),
        )
    if said is Standing.IMPOSSIBLE:
        if silent := a.revealed_names:
            names = " and ".join(called(a, a.queries[i]) for i in silent[:3])
            return (
                Span(f"The names of the groups of {names} come from the data, and a name that exists because of one "),
                Span("person gives them away, whatever the noise. List the groups in the plan (groups: [a, b]), or "),
                Span("publish only those with enough people (threshold: auto)."),
            )
        if r.reading == "posterior" and a.release.mechanism.noise is Noise.GAUSSIAN:
            return (
                Span("Gaussian noise bounds no belief: some rare answers are conclusive. Limit success instead, "),
                Span("or use Laplace noise."),
            )
        if any(q.split_by and isinstance(q.threshold, float | int) for q in a.release.queries):
            each = "Each limit is kept by some ε, and all of them by none: a" if _apart(a) else "A"
            return (
                Span(f"{each} fixed threshold lets more names pass the more noise there is. Raise it, let it follow "),
                Span("the noise (threshold: auto), list the groups in the plan, or give other limits."),
            )
        if r.limit is not None and r.limit >= r.baseline:
            return (Span("Even next to no privacy loss passes this limit. Give one further above the baseline."),)
        return (
            Span("Noise cannot take an adversary below what they know without the release. Give a limit above that, "),
            Span("or state an adversary who knows less beforehand."),
        )
    if said is Standing.OVER and a.verdict.broken == (LEDGER,):
        at = a.recommended or 0.0
        return (Span(f"ε = {chosen(at)} is what the ledger leaves. {_price(a, at)}"),)
    if said is Standing.OVER:
        at = a.recommended or 0.0
        return (Span(f"ε = {chosen(at)} {_keeps(r)}. {_price(a, at)}"),)
    if said is Standing.INACCURATE:
        enough = chosen(a.verdict.enough)
        then = "" if r.needed is None else f", where the risk is {_told(r, r.needed)}"
        within = ", still within your limit" if r.limit is not None else ""
        return (Span(f"{_too_far(a)} ε = {enough} is enough{then}{within}."),)
    if said is Standing.CONTRADICTORY:
        return (Span(f"{_too_far(a)} {contradiction(a)}"),)
    if said is Standing.OPEN:
        return (Span(f"At ε = {now}, {_within(a, a.epsilon)}."),)
    most = a.verdict.recommended
    room = ""
    if most is not None and most > a.epsilon:
        shown = chosen(most)
        if shown != now:
            room = "No ε would break it. " if shown == "any" else f"Up to ε = {shown} would keep it too. "
    return (Span(f"{room}At ε = {now}, {_within(a, a.epsilon)}."),)


def _keeps(r: AdversaryRisk) -> str:
    if r.recommended is None:
        return "keeps the limit"
    if r.reading not in FREQUENCIES:
        return f"keeps it to {risk(r.reading, r.recommended)}"
    whom = "them" if r.reading == "success" else "it"
    scale = denominator([r.recommended], [r.baseline])
    return f"keeps {whom} to {count(r.recommended, scale)}{'' if scale == 100 else f' of {thousands(scale)}'}"


def _told(r: AdversaryRisk, value: float) -> str:
    if r.reading not in FREQUENCIES:
        return risk(r.reading, value, limit=r.limit)
    return told_beside(r, value, guessed=False)[0]


def _price(a: Assessment, at: float) -> str:
    q = a.hardest
    if at > a.epsilon:
        return f"There {_within(a, at)}."
    if not math.isfinite(error_at(a, q, at)):
        return f"The price is accuracy: {_within(a, at)}."
    then, now = (a.figures[e].queries[q.index].errors.worst for e in (at, a.epsilon))
    if then is not None and now is not None and then.cause is Cause.BIAS:
        told = (
            f"The price is accuracy: in 95 of 100 releases the noise in {subject(a, q)} is within {error(then.noise)}, "
            f"not {error(now.noise)}. Limits and bounds change it by more, {error(abs(then.bias))[1:]}, whatever ε."
        )
        that = "Together that"
    else:
        there, here = error(error_at(a, q, at)), error(error_at(a, q, a.epsilon))
        told = f"The price is accuracy: in 95 of 100 releases {subject(a, q)} is within {there}, not {here}."
        that = "That"
    if not q.typical:
        return f"{told} The true answer is 0."
    tolerated = a.release.error_limit
    allowed = "" if tolerated is None else f"; you allow {percent(tolerated)}"
    return f"{told} {that} is {share(a.figures[at].queries[q.index].relative, tolerated, spoken=True)} of it{allowed}."


def _within(a: Assessment, at: float) -> str:
    q, tolerated = a.hardest, a.release.error_limit
    found = error_at(a, q, at)
    if not math.isfinite(found):
        return f"in more than 5 of 100 releases {subject(a, q)} is not published at all"
    told = f"in 95 of 100 releases {subject(a, q)} is within {error(found)}"
    if (worst := a.figures[at].queries[q.index].errors.worst) is not None and worst.cause is Cause.BIAS:
        told += f" (limits and bounds {error(abs(worst.bias))[1:]}, noise {error(worst.noise)})"
    if not q.typical:
        return f"{told}; the true answer is 0"
    allowed = "" if tolerated is None else f"; you allow {percent(tolerated)}"
    return f"{told}, {share(a.figures[at].queries[q.index].relative, tolerated, spoken=True)} of it{allowed}"


def _too_far(a: Assessment) -> str:
    """What breaks the limit on error: noise, what bounds and limits lose, or a threshold."""
    q = a.hardest
    worst = q.planned.worst
    cause = Cause.NOISE if worst is None else worst.cause
    why = {
        Cause.NOISE: "The noise is too strong",
        Cause.BIAS: "Bounds and limits lose too much, and no ε mends that",
        Cause.HIDDEN: "The threshold hides too much",
    }[cause]
    return f"{why}: {_within(a, a.epsilon)}."


def contradiction(a: Assessment) -> str:
    """Why risk and error cannot both be kept; what the error tolerated costs in risk; nothing without such a limit."""
    tolerated, r, decided = a.release.error_limit, a.leading, a.verdict
    if tolerated is None or decided.at_least is None or decided.neediest is None:
        return ""
    hard = a.queries[decided.neediest]
    least = epsilon_up(decided.at_least, None if decided.apart else decided.largest)
    if least == "none":
        return f"No ε up to {MOST:g} keeps {subject(a, hard)} within {percent(tolerated)}."
    then = "" if r.needed is None else f", where the risk is {'still ' if decided.apart else ''}{_told(r, r.needed)}"
    needs = f"Keeping {subject(a, hard)} within {percent(tolerated)} needs ε of at least {least}{then}."
    return f"No ε meets both limits. {needs}" if decided.apart and decided.possible else needs


def proposed(a: Assessment, p: Proposal) -> str:
    """A better choice, and what it would do to the error."""
    told = f"[{p.value[0]:g}, {p.value[1]:g}]" if isinstance(p.value, tuple) else f"{p.value}"
    then = f"error {share(p.error_then)} of the answer instead of {share(p.error_now)}"
    return f"{p.parameter.value}: {told} for {called(a, a.queries[p.query])}: {then}."


def share_of_people(p: float) -> str:
    """How many of the figures of an icon array are in the table."""
    return "half of them" if p == 0.5 else frequency(p)
