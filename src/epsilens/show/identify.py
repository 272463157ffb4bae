"""Who of n is missing: the sentence, the table, and every form in which they can be shown."""

from __future__ import annotations

import html
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .charts.certainty import certainty_chart, legend
from .page import document
from .text import escape, tie, untie
from .words import grouped, number, rounded_down, rounded_up

if TYPE_CHECKING:
    from ..attacks.identification import Identification

__all__ = ["IdentifyReport", "sentence"]

_LADDER = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


def _percent(p: float) -> str:
    """A share of certainty, rounded up; 100% only for certainty."""
    if p >= 1:
        return "100%"
    text = rounded_up(100 * p, 2)
    return "more than 99%" if float(text) >= 100 else f"{text}%"


def sentence(found: Identification) -> str:
    """How sure the attacker can become, and what a blind guess gives.

    >>> from epsilens.attacks.identification import identify
    >>> print(sentence(identify(n=120, value_range=(0, 60), sensitivity=121, epsilon=5.0)))
    Among 120 people, an attacker who knows everyone's value could become 9.2% sure who is missing; a blind guess gives 1 of 120 (0.83%).
    """  # noqa: E501 - one sentence, on one line
    n = grouped(found.n)
    blind = f"a blind guess gives 1 of {n} ({rounded_down(100 * found.baseline, 2)}%)"
    lead = f"Among {n} people, an attacker who knows everyone's value could become"
    if found.chosen and found.at_most is not None:
        start = (
            "Every ε keeps this limit: among"
            if found.largest_epsilon == math.inf
            else f"Use ε = {rounded_down(found.epsilon)} or less: among"
        )
        if found.reading == "success":
            return (
                f"{start} {n} people, an attacker who knows everyone's value then names the missing one at most "
                f"{_percent(found.success or 0.0)} of the time; {blind}."
            )
        lead = f"{start} {n} people, an attacker who knows everyone's value could then become at most"
    return f"{lead} {_percent(found.certainty)} sure who is missing; {blind}."


@dataclass(frozen=True)
class IdentifyReport:
    """An identification, ready to be shown; ``command`` reproduces it."""

    found: Identification
    command: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The result's own values and the command."""
        return {**self.found.to_dict(), "command": self.command}

    def _rows(self) -> list[tuple[str, str, str]]:
        """(what, value, in words)."""
        f = self.found
        rows = [("Blind guess", number(f.baseline), f"One of {grouped(f.n)}, all equally likely.")]
        if f.posterior is not None:
            rows += [
                ("Most certain belief", number(f.posterior), f"About {f.who}."),
                ("  of the largest value", number(f.largest or 0.0), "If the answer is as low as it gets."),
                ("  of the smallest value", number(f.smallest or 0.0), "If the answer is as high as it gets."),
            ]
        rows.append(("Bound from n and range", number(f.bound), "Lee and Clifton: holds for any values so far apart."))
        if f.success is not None:
            rows.append(("Average success", number(f.success), "How often the likeliest person is the missing one."))
        if f.at_most is not None:
            rows.append((f"Limit on the {f.reading}", number(f.at_most), self._verdict()))
        if f.largest_epsilon is not None:
            how = "Exact for these values." if f.from_values else "By the bound."
            rows.append(("Largest ε", _epsilon(f.largest_epsilon), how))
        if f.epsilon_by_bound is not None and f.from_values:
            rows.append(("Largest ε by the bound", _epsilon(f.epsilon_by_bound), "Needs only n and the range."))
        return rows

    def _verdict(self) -> str:
        return "Exceeded at this ε." if self.found.exceeded else "Kept at this ε."

    @property
    def _setting(self) -> str:
        f = self.found
        noise = "Laplace noise" if f.noise == "laplace" else f"Normal noise, δ = {f.delta:g}"
        return (
            f"{noise} at ε = {rounded_down(f.epsilon)} on a {f.query} of sensitivity {f.sensitivity:.6g}; "
            f"with someone else missing, the answer moves by up to {f.spread:.6g}."
        )

    def _ladder(self) -> list[tuple[str, str]]:
        """The bound at a few ε, to see how it grows."""
        if self.found.noise != "laplace":
            return []
        from ..attacks.identification import posterior_among

        ratio = self.found.spread / self.found.sensitivity
        return [(f"{e:g}", _percent(float(posterior_among(self.found.n, e, ratio)))) for e in _LADDER]

    def to_text(self, width: int = 80) -> str:
        """The sentence, the setting, the table and what to know."""
        rows = self._rows()
        name, value = max(len(r[0]) for r in rows), max(len(r[1]) for r in rows)
        words = max(width - name - value - 6, 20)
        table = []
        for what, shown, told in rows:
            first, *rest = textwrap.wrap(told, words)
            table.append(f"  {what:{name}}  {shown:>{value}}  {first}")
            table += [" " * (name + value + 6) + line for line in rest]
        blocks = [
            textwrap.fill(tie(sentence(self.found)), width),
            textwrap.fill(self._setting, width),
            "\n".join(table),
        ]
        if ladder := self._ladder():
            wide = max(len(cell) for row in ladder for cell in row)
            heads = zip(("at ε", "the bound"), zip(*ladder, strict=True), strict=True)
            lines = [f"  {head:9}" + "".join(f"  {cell:>{wide}}" for cell in cells) for head, cells in heads]
            blocks.append("\n".join(lines))
        blocks += [textwrap.fill(note, width) for note in self.found.notes]
        if self.command:
            blocks.append(f"Reproduce: {self.command}")
        return untie("\n\n".join(blocks))

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        out = [f"**{escape(sentence(self.found))}**", escape(self._setting)]
        rows = [f"| {escape(a.strip())} | {b} | {escape(c)} |" for a, b, c in self._rows()]
        out.append("\n".join(["| What | Value | In words |", "|---|--:|---|", *rows]))
        if ladder := self._ladder():
            out.append("\n".join(["| ε | Bound |", "|--:|--:|", *(f"| {e} | {p} |" for e, p in ladder)]))
        out += [escape(note) for note in self.found.notes]
        if self.command:
            out.append(f"```sh\n{self.command}\n```")
        return "\n\n".join(out)

    def to_html(self) -> str:
        """A self-contained page."""
        lead = (
            f'<section><h2>Who is missing?</h2><div><p class="lead">{html.escape(sentence(self.found))}</p>'
            f'<p class="how">{html.escape(self._setting)}</p></div></section>'
        )
        table = f"<section><h2>In numbers</h2><div>{self._numbers()}</div></section>"
        sections = [lead, *self._picture(), table]
        if ladder := self._ladder():
            sections.append(
                f"<section><h2>At other ε</h2><div>{_table(('ε', 'Bound on certainty'), ladder)}</div></section>"
            )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.found.notes)
        code = f"<pre><code>{html.escape(self.command)}</code></pre>" if self.command else ""
        if notes or code:
            sections.append(f"<section><h2>What to know</h2><div>{notes}{code}</div></section>")
        return document("Who is missing?", "One of n people", sections)

    def _numbers(self) -> str:
        return _table(("What", "In words", "Value"), [(what, told, value) for what, value, told in self._rows()])

    def _picture(self) -> list[str]:
        """The curve, where there is one."""
        chart = certainty_chart(self.found)
        if chart is None:
            return []
        note = f'<p class="note after">{html.escape(legend(self.found))}</p>'
        return [f"<section><h2>How it grows with ε</h2><div>{chart.figure()}{note}</div></section>"]

    def to_html_fragment(self) -> str:
        """The sentence, the table and the notes for a notebook."""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.found.notes)
        return (
            f"<p><strong>{html.escape(sentence(self.found))}</strong></p><p>{html.escape(self._setting)}</p>"
            f"{self._numbers()}{notes}"
        )


def _epsilon(value: float) -> str:
    return "every ε" if math.isinf(value) else rounded_down(value)


def _table(head: tuple[str, ...], rows: Any) -> str:
    """A table whose last column holds the numbers."""

    def side(i: int) -> str:
        return ' class="number"' if i == len(head) - 1 else ""

    cells = "".join(f'<th scope="col"{side(i)}>{html.escape(h)}</th>' for i, h in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f"<td{side(i)}>{html.escape(c.strip())}</td>" for i, c in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<table class="plain"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'
