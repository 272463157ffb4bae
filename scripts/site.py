"""Build the site: the pages of docs/, the papers recomputed, and the API from its docstrings.

    python -m scripts.site [--output build/site] [--examples skip]

The examples of every page are run first. Sphinx treats warnings as errors, and every link of what it built is followed;
nothing may be fetched from elsewhere. The pages that follow from the library (each paper, the errata, the list of the
papers' items, the API) are written beside copies of docs/ in build/docs, never into docs/ itself.
"""

from __future__ import annotations

import argparse
import csv
import html
import math
import shutil
import subprocess
import sys
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import epsilens as el
from epsilens.overview import marked_curve
from epsilens.papers import PAPERS, Paper, reproduction
from epsilens.papers.items import ERRATA, PREFACE, Agreement, Item
from epsilens.show import charts
from epsilens.show.charts.lines import Axis, Series, lines

from .examples import check
from .links import broken, fetched

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: The pages of the site, in the order a newcomer meets them; every page of docs/ stands in one, which a test holds.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Start": ("getting-started", "for-tables", "for-training", "for-judging", "for-research"),
    "Stories": ("notebooks/choosing", "notebooks/training", "notebooks/papers", "notebooks/audit"),
    "Understand": ("how-it-works", "sharp-edges", "coming-from", "at-scale", "gallery", "benchmarks", "glossary"),
    "Numbers": (
        "readings", "mechanisms", "which", "claims", "certificates", "choosing", "notebook", "composition", "knowledge",
        "notions", "tampering",
    ),
    "Tables and releases": (
        "scan", "correlate", "correlated", "correlated-tables", "release", "publishing", "ledger", "auditing",
    ),
    "Proofs": ("proofs/index", "proofs/dominating-pairs", "proofs/composition", "proofs/plans", "proofs/checker"),
    "Reference": ("api", "command-line", "gate", "page", "bridges"),
    "Papers": (
        "papers/liu2019", "papers/ashena2021", "papers/kaissis2022", "papers/unsal2022", "papers/li2019",
        "papers/errata", "papers/terms", "papers/items",
    ),
}  # fmt: skip
#: The public names by what they are for; every name of epsilens stands in one of them, which a test holds.
API: dict[str, tuple[str, ...]] = {
    "The one object": ("Experiment", "mechanisms.finite"),
    "Noise on one answer": (
        "laplace", "gaussian", "mechanisms.geometric", "mechanisms.discrete_gaussian", "mechanisms.staircase",
        "mechanisms.skellam", "mechanisms.mixture", "mechanisms.vector", "mechanisms.Vector",
        "attacks.above", "attacks.Informed",
    ),
    "Choosing an answer": (
        "mechanisms.exponential", "mechanisms.noisy_max", "mechanisms.permute_and_flip", "mechanisms.top_k",
        "mechanisms.sparse_vector", "mechanisms.repeat_and_select",
    ),
    "From each person": (
        "mechanisms.randomized_response", "mechanisms.unary", "mechanisms.hadamard_response",
        "mechanisms.count_mean_sketch", "mechanisms.rappor", "mechanisms.shuffled",
    ),
    "Training": ("dpsgd", "mechanisms.clt", "mechanisms.Clt", "mechanisms.matrix", "mechanisms.tree",
    "mechanisms.banded", "mechanisms.sqrt_prefix"),
    "Claims": ("claim", "Claim", "mechanisms.pure", "mechanisms.approximate", "mechanisms.from_dp",
    "mechanisms.from_gdp", "mechanisms.from_rdp", "mechanisms.from_zcdp"),
    "Putting together": ("compose", "subsample", "group", "attacks.worst_pair", "attacks.WorstPair"),
    "Attacks": (
        "attacks.differencing", "attacks.differencing_average", "attacks.differencing_median", "attacks.identify",
        "attacks.Identification", "attacks.mistaken", "attacks.Mistaken", "attacks.observed", "attacks.Observed",
        "attacks.Knowledge",
    ),
    "False records": (
        "attacks.tampering", "attacks.Tampering", "attacks.Detection", "attacks.DetectionSeries",
        "attacks.detect", "attacks.detect_series", "attacks.watch", "attacks.detected_bias",
        "attacks.hidden_bias", "attacks.epsilon_to_detect",
        "attacks.privacy_distortion", "attacks.kl_bound", "attacks.chernoff_bound",
    ),
    "Choosing and comparing": ("choose", "Choice", "Choices", "compare", "Comparison", "sweep", "Sweep"),
    "Tables": (
        "init", "Start", "scan", "Scan", "correlate", "Correlation", "correlated", "assess", "Assessment",
        "use_memory", "Memory",
    ),
    "Releasing and auditing": ("release", "Published", "Ledger", "audit", "Audit"),
    "Namespaces": ("mechanisms", "attacks"),
    "Other definitions, other libraries": ("notions", "bridges", "papers"),
    "Errors": ("EpsilensError", "InputError", "NoSolutionError", "LimitError", "MissingExtra"),
}  # fmt: skip


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in "\\`*_<>|[]{}$":
        text = text.replace(mark, f"\\{mark}")
    return text


def spans(text: str) -> str:
    """Text whose parts between backticks are code."""
    parts = text.split("`")
    return "".join(f"`{part.replace('|', chr(92) + '|')}`" if k % 2 else escaped(part) for k, part in enumerate(parts))


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(escaped(c) if i != 1 else c for c in row) + " |" for i, row in enumerate(lines))


# -- the papers ---------------------------------------------------------------------------------------------------


def picture(chart: charts.Chart, name: str, folder: Path, static: str = "../_static") -> str:
    """A chart in both palettes and for both widths, and what it says for those who cannot see it."""
    made = []
    label = html.escape(chart.label, quote=True)
    for palette in ("light", "dark"):
        for width, kind in ((chart.phone, "phone"), (chart.desk, "desk")):
            (folder / f"{name}-{palette}-{kind}.svg").write_text(chart.svg(palette, width), encoding="utf-8")
        at = f"{static}/papers/{name}-{palette}"
        made.append(
            f'<picture class="only-{palette}"><source media="(max-width: 700px)" srcset="{at}-phone.svg">'
            f'<img class="dark-light" src="{at}-desk.svg" alt="{label}"></picture>'
        )
    return "```{raw} html\n" + "\n".join(made) + "\n```"


def item_page(item: Item, key: str, folder: Path) -> str:
    """One table, figure or claim."""
    told = [("The paper shows", item.shows), ("epsilens gets", item.gets)]
    told += [("They agree", item.agreement.value)] if item.shows else []
    told += [("Why", item.why)]
    made = [f"({key}-{item.key})=\n## {escaped(item.title)}"]
    made.append("\n".join(f"- **{term}**: {escaped(text)}" for term, text in told if text))
    made += [picture(chart, f"{key}-{item.key}-{k + 1}", folder) for k, chart in enumerate(item.charts)]
    if item.rows:
        made.append(table([escaped(c) for c in item.columns], [list(row) for row in item.rows]))
    made.append("\n".join(f"- {escaped(note)}" for note in item.notes))
    return "\n\n".join(part for part in made if part)


def paper_page(paper: Paper, folder: Path) -> str:
    """A paper: how much of it agrees, then every item."""
    counts = {a: sum(i.agreement is a for i in paper.items if i.shows) for a in Agreement}
    told = ", ".join(f"{n} {a.value}" for a, n in counts.items() if n)
    head = [
        f"# Paper {paper.key}",
        escaped(paper.citation),
        f"{len(paper.items)} tables, figures and claims: {told}. The same from the command: "
        f"`epsilens reproduce {PAPERS[paper.key]} --output folder/`.",
    ]
    return "\n\n".join([*head, *(item_page(item, paper.key, folder) for item in paper.items)]) + "\n"


def errata_page() -> str:
    """Every erratum with its line."""
    made = [
        "# Errata",
        "The five papers are the ground this stands on. While every formula was checked, these places were found to "
        "differ from what holds. The papers were read as text, so that what may be an artefact of it is left out. Each "
        "comes with a line of Python that is true because of it, to be run after these three; the tests run them all.",
        f"```python\n{PREFACE}\n```",
    ]
    for paper, each in ERRATA.items():
        made.append(f"## Paper {paper} ({PAPERS[paper]})")
        for e in each:
            made.append(
                f"**{escaped(e.where)}**\n: Printed: {escaped(e.printed)}.\n: Holds: {escaped(e.holds)}.\n\n"
                f"```python\n{e.check}\n```"
            )
    return "\n\n".join(made) + "\n"


def items_page() -> str:
    """The papers' items one by one, and where each is."""
    with (DOCS / "papers" / "items.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    works = sum(row[3] == "works" for row in rows)
    told = "all of them work here" if works == len(rows) else f"{works} work here, {len(rows) - works} in part"
    made = [
        "# What the papers define, and where it is",
        f"Of {len(rows)} things the papers define, claim, draw or leave to future work, {told}. A thing that does not "
        "hold as printed works where the reproduction shows why.",
        "What is in code runs as it stands after `from math import *`, `import epsilens as el` and "
        "`from epsilens import papers`, or in a shell; the tests run all of it and compare the first number with the "
        "reference sheets.",
        "| Paper | Item | Where it is | State |\n|---|---|---|---|\n"
        + "\n".join(f"| {row[0]} | {escaped(row[1])} | {spans(row[2])} | {row[3]} |" for row in rows),
    ]
    return "\n\n".join(made) + "\n"


# -- the gallery --------------------------------------------------------------------------------------------------

#: Every kind of chart, by the line that makes it.
GALLERY = (
    'el.laplace(epsilon=1).chart("roc")',
    'el.laplace(epsilon=1).chart("tradeoff")',
    'el.laplace(epsilon=1).chart("precision_recall")',
    'el.gaussian(psi=1).chart("profile")',
    'el.gaussian(psi=1).chart("posterior")',
    'el.laplace(epsilon=1).chart("success")',
    'el.laplace(epsilon=1).chart("renyi")',
    'el.laplace(epsilon=1).chart("roc", against=[el.gaussian(psi=1), el.mechanisms.randomized_response(epsilon=1)])',
    "el.claim(epsilon=8, delta=1e-6).chart()",
    'el.choose(el.laplace, "epsilon", at_most=0.55).chart()',
    'el.sweep(el.gaussian, sigma=[0.5, 1, 2, 4, 8], reading="success").chart()',
    "el.compare([el.laplace(epsilon=1), el.gaussian(psi=1)]).chart()",
    'el.assess("examples/mental-visits.yaml").chart("risk")',
    'el.assess("examples/mental-visits.yaml").chart("accuracy")',
    'el.assess("examples/mental-visits.yaml").chart("simulated")',
    'el.assess("examples/mental-visits.yaml").chart("precedents")',
)


def gallery_page(papers: Sequence[Paper], folder: Path) -> str:
    """Every kind of chart with its line, and a figure of every paper."""
    made = [
        "# Gallery",
        "## Charts",
        'Each chart by the line that makes it; `.save("x.svg")`, `.plot(ax)` and `.data` take it along.',
    ]
    for k, line in enumerate(GALLERY):
        made += [f"```python\n{line}\n```", picture(eval(line, {"el": el}), f"gallery-{k}", folder, "_static")]
    made += [
        "## Reproductions",
        "One figure of each paper; the pages have them all, with what agrees and what does not.",
    ]
    for paper in papers:
        item = next(item for item in paper.items if item.charts)
        page = f"papers/{PAPERS[paper.key]}.md"
        made += [f"**[Paper {paper.key}]({page})**: {escaped(item.title)}"]
        made += [picture(item.charts[0], f"gallery-{paper.key}", folder, "_static")]
    return "\n\n".join(made) + "\n"


# -- the picture of the one idea ----------------------------------------------------------------------------------


def two_worlds(epsilon: float = 1.0) -> charts.Chart:
    """What is published with the person and without, and where the best guess draws its line."""
    at = [x / 50 for x in range(-200, 251)]
    law = [tuple((x, epsilon / 2 * math.exp(-epsilon * abs(x - shift))) for x in at) for shift in (0.0, 1.0)]
    drawn = (
        Series("H0: not in the data", law[0]),
        Series("H1: in the data", law[1]),
        Series("guess H1 beyond", ((0.5, 0.0), (0.5, 0.5)), limit=True),
    )
    told = "Two bell-like curves, one unit apart; the best guess cuts them half-way."
    high = Axis(0, 0.55)
    across = Axis(-4, 5, "published answer less the answer without the person")
    return lines("worlds", "Two laws of one answer", "density", drawn, across, high, told, inside=True)


def drawn_into(page: Path, folder: Path) -> None:
    """Put the pictures of the one idea where a page asks for them."""
    both = (two_worlds(), charts.marked(marked_curve(el.laplace(epsilon=1.0), "roc")))
    made = "\n\n".join(picture(chart, f"idea-{k}", folder, "_static") for k, chart in enumerate(both))
    text = page.read_text("utf-8")
    marked = "<!-- picture: the one idea -->"
    if text.count(marked) != 1:
        raise ValueError(f"{page.name} has no place for its picture: add {marked}")
    page.write_text(text.replace(marked, made), encoding="utf-8")


# -- the API ------------------------------------------------------------------------------------------------------


def api_page() -> str:
    """Every public name from its docstring."""
    made = ["# Every public name", "All of it is in `epsilens`, here `el`; modules are found when they are first used."]
    for heading, names in API.items():
        made.append(f"## {heading}")
        for name in names:
            thing = attrgetter(name)(el)
            kind = "autoclass" if isinstance(thing, type) else "autofunction" if callable(thing) else "automodule"
            alone = "\n   :no-members:" if name in ("mechanisms", "attacks") else ""  # theirs stand in their sections
            made.append(f"```{{eval-rst}}\n.. {kind}:: epsilens.{name}{alone}\n```")
    return "\n\n".join(made) + "\n"


def contents(source: Path) -> None:
    """A page for each section, and all of them under the first."""
    names = []
    for title, pages in SECTIONS.items():
        name = "section-" + title.lower().replace(" ", "-")
        listed = "\n".join(pages)
        (source / f"{name}.md").write_text(
            f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n{listed}\n```\n", encoding="utf-8"
        )
        names.append(name)
    first = source / "index.md"
    told = "\n".join(names)
    first.write_text(first.read_text("utf-8") + f"\n```{{toctree}}\n:hidden:\n{told}\n```\n", encoding="utf-8")


def build(output: Path) -> int:
    """Write the pages, and run Sphinx over them."""
    source = ROOT / "build" / "docs"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS, source)
    folder, charts = source / "papers", source / "_static" / "papers"
    charts.mkdir()
    papers = reproduction().papers
    for paper in papers:
        (folder / f"{PAPERS[paper.key]}.md").write_text(paper_page(paper, charts), encoding="utf-8")
    (folder / "errata.md").write_text(errata_page(), encoding="utf-8")
    (folder / "items.md").write_text(items_page(), encoding="utf-8")
    (source / "api.md").write_text(api_page(), encoding="utf-8")
    shutil.copy(ROOT / "benchmarks" / "README.md", source / "benchmarks.md")
    (source / "gallery.md").write_text(gallery_page(papers, charts), encoding="utf-8")
    drawn_into(source / "how-it-works.md", charts)
    contents(source)
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html", source, output],
        check=False,
    )
    wrong = [f"leads nowhere: {link}" for link in broken(output)] + [f"fetched: {each}" for each in fetched(output)]
    return complain(wrong) or made.returncode


def complain(wrong: list[str]) -> int:
    """Say what is wrong; 1 if anything is."""
    for each in wrong:
        print(each, file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    """Build into a folder."""
    parser = argparse.ArgumentParser(description="build the site")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--examples", choices=("run", "skip"), default="run", help="skip: the tests ran them already")
    given = parser.parse_args()
    if given.examples == "run" and complain(check([*sorted(DOCS.glob("*.md")), ROOT / "README.md"])):
        return 1
    return build(given.output.resolve())


if __name__ == "__main__":
    raise SystemExit(main())
