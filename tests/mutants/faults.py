"""Faults that were found by trying (the numbers are those of the list of defects), each as the code was when wrong.

``mended`` stands once in the module at ``path``; put back, ``broken`` must be caught by one of ``judges``, of which
those that judge any plan or law come first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A defect: its number, the pair of features in which it lay, and how to put it back."""

    name: str
    pair: str
    path: str
    mended: str
    broken: str
    judges: tuple[str, ...]


PLANS = "tests/judges/plans/test_plans.py::test_a_fault_put_back_is_found"
LAWS = "tests/combinations/test_faults.py::test_a_fault_put_back_is_found"

FAULTS = (
    Fault(
        "1.1", "threshold x limits that bite", "plan/cells.py",
        "if need.public or tally.owners]", "]",
        (f"{PLANS}[1.1]", "tests/plan/test_cells.py"),
    ),
    Fault(
        "1.1 definition", "threshold x limits that bite, in the definition", "plan/plain_cells.py",
        "        found = sorted(inside, key",
        "        found = sorted({label(r, by) for r in rows if covers(r) is True}, key",
        (f"{PLANS}[1.1]", "tests/plan/test_cells.py"),
    ),
    Fault(
        "1.2", "a secret x another query's limit", "plan/scan_plan.py",
        "    return [name for name in found if name not in told], [name for name in found if name in told]",
        "    return list(found), []",
        (f"{PLANS}[1.2]", "tests/plan/test_cells.py"),
    ),
    Fault(
        "1.3", "several people x names of groups", "plan/contribution.py",
        "    if alone * len(hidden) > _MOST_SHARED:\n",
        "    if people > 1:  # all of them in one group\n        return float(hidden[-1] * -(-alone // len(hidden)))\n"
        "    if alone * len(hidden) > _MOST_SHARED:\n",
        (f"{PLANS}[1.3]", "tests/auditing/test_exact.py::test_several_people_together",
         "tests/assessment/test_risks.py"),
    ),
    Fault(
        "1.4", "correlated records x several answers", "plan/movement.py",
        "    return related_movements(plan, [of.get(i, (1, 1.0)) for i in range(len(plan.queries))])\n",
        "    whole = related_movements(plan, [of.get(i, (1, 1.0)) for i in range(len(plan.queries))])\n"
        "    most = max(found, key=lambda r: r.swing * plan.shares[r.query])\n"
        "    return replace(whole, each=tuple(replace(m.only({most.query}), alone=()) for m in whole.each))\n",
        (f"{PLANS}[1.4]", "tests/auditing/test_exact.py::test_related_people", "tests/plan/test_movement.py"),
    ),
    Fault(
        "1.5", "a fixed threshold x several limits", "assessment/verdict.py",
        "    while largest and (broken :=", "    while False and (broken :=",
        (f"{PLANS}[1.5]", "tests/auditing/test_exact.py::test_what_is_recommended", "tests/assessment/test_verdict.py"),
    ),
    Fault(
        "1.6", "people as they are x a grid", "assessment/risks.py",
        "    upper = (m1 - m0) / -np.expm1(low - high)\n", "    upper = m1 / 2\n",
        ("tests/assessment/test_risks.py",),
    ),
    Fault(
        "1.7", "saved answers x changed data", "ledger/ledger.py",
        "self.keyed(canonical_json(what))", "self.keyed(text_of([what, data]))",
        ("tests/auditing/test_exact.py::test_a_second_publication", "tests/publish/test_release.py"),
    ),
    Fault(
        "1.8 account", "a limit on the only account x a release that names none", "ledger/ledger.py",
        "        return found[0] if found else EVERYONE\n", "        return EVERYONE\n",
        ("tests/ledger/test_ledger.py", "tests/publish/test_release.py::test_the_only_account_is_used"),
    ),
    Fault(
        "1.8 accounts", "several accounts x a release that names none", "ledger/ledger.py",
        "        if len(found) > 1:\n", "        if len(found) > len(found):\n",
        ("tests/ledger/test_ledger.py", "tests/publish/test_release.py::test_the_only_account_is_used"),
    ),
    Fault(
        "1.8 data", "the same data x another account", "ledger/ledger.py",
        "apart = data and not other_people and all(", "apart = False and all(",
        ("tests/ledger/test_ledger.py", "tests/publish/test_release.py"),
    ),
    Fault(
        "1.8 copy", "the same data x another file", "publish/release.py",
        "content = content_fingerprint(opened)\n", "content = content_fingerprint(opened) + opened.name\n",
        ("tests/publish/test_release.py",),
    ),
    Fault(
        "1.8 names", "an account x a name that looks like its own", "ledger/budget.py",
        "    return not _skeletons(one).isdisjoint(_skeletons(other))\n",
        "    return one.casefold() == other.casefold()\n",
        ("tests/ledger/test_ledger.py", "tests/ledger/test_budget.py"),
    ),
    Fault(
        "1.8 title", "saved answers x another title", "plan/model.py",
        'exclude={"title": True, "data": {"table"}}', 'exclude={"data": {"table"}}',
        ("tests/publish/test_release.py::test_the_same_plan_gives_the_same_answers_whatever_the_data",),
    ),
    Fault(
        "1.9", "an address with a password x files and the ledger", "plan/model.py",
        '        said["data"]["table"] = self.data.public_name\n', "",
        ("tests/publish/test_answers.py::test_nothing_of_an_address_is_published",),
    ),
    Fault(
        "1.9 path", "a private path x files and the ledger", "plan/model.py",
        '        return self.name or (self.table if self.table in names() else "the table")\n',
        "        return self.name or masked(self.table)\n",
        ("tests/publish/test_answers.py::test_nothing_of_a_path_is_told",),
    ),
    Fault(
        "1.9 export", "an old ledger x its export", "ledger/ledger.py",
        '"body": _without_addresses(e.body)', '"body": dict(e.body)',
        ("tests/publish/test_answers.py::test_what_older_versions_wrote_is_found",),
    ),
    Fault(
        "1.9 check", "an old ledger x ledger check", "ledger/ledger.py",
        " + _address_problems(entries)\n", "\n",
        ("tests/publish/test_answers.py::test_what_older_versions_wrote_is_found",),
    ),
    Fault(
        "2.1", "sampling x replacement x Laplace noise", "laws/laplace.py",
        "        x = min(max(x, -self.m), self.m)\n        if x == self.m:\n",
        "        if True:\n",
        (f"{LAWS}[2.1 sampled, replaced, Laplace]", "tests/laws/test_laplace.py"),
    ),
    Fault(
        "2.2", "shuffled batches x a schedule", "mechanisms/batches.py",
        "    for (n, batch), part in groupby(rows, key=lambda row: (row.n, row.batch)):\n",
        "    for n, batch, part in ((row.n, row.batch, [row]) for row in rows):\n",
        (f"{LAWS}[2.2 shuffled on a schedule]", "tests/mechanisms/test_batches.py"),
    ),
    Fault(
        "2.3", "geometric noise x two noisy answers", "mechanisms/discrete.py",
        "        return np.concatenate((tail + most, log_p0, tail)), np.concatenate((-most, llr, most))\n",
        "        return log_p0, llr\n",
        (f"{LAWS}[2.3 a supremum that is a limit]", "tests/attacks/test_differencing.py"),
    ),
    Fault(
        "2.4", "correlated records x composition, sampling, groups", "experiment.py",
        '        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))\n',
        '        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))\n'
        '        object.__setattr__(self, "latent", None)\n',
        (f"{LAWS}[2.4 correlated, together]", "tests/attacks/test_latent.py"),
    ),
    Fault(
        "2.5", "μ at a level x the smallest ε", "laws/finite.py",
        "probit_gap(here, law._gained(here), law.tradeoff(here))",
        "probit_gap(here, np.maximum(law.roc(here) - here, 0.0), law.tradeoff(here))",
        ("tests/laws/test_finite.py::test_mu_of_the_smallest_losses",),
    ),
    Fault(
        "2.6", "an audit's verdict x its bounds", "auditing/bounds.py",
        "    return low if over or claimed is None else min(low, claimed)\n", "    return low\n",
        ("tests/auditing/test_readings.py::test_a_bound_above_the_claim_and_a_violation_are_one",),
    ),
    Fault(
        "2.7", "groups x noise that shifts", "mechanisms/discrete.py",
        "        return FiniteStep(moved.law().atoms(), True, translation=moved) if moved._enumerable else None\n",
        "        return None\n",
        (f"{LAWS}[2.7 a group that moves noise]", "tests/laws/test_discrete_noise.py"),
    ),
    Fault(
        "2.8", "monotonic x scores that rise and fall", "mechanisms/selection.py",
        "    if rises and (s1 > s0).any() and (s1 < s0).any():\n", "    if False:\n",
        ("tests/mechanisms/test_selection.py",),
    ),
    Fault(
        "2.8 replaced", "monotonic x replacement", "mechanisms/selection.py",
        "    if value and neighbours is Relation.REPLACE:\n", "    if False:\n",
        ("tests/mechanisms/test_selection.py",),
    ),
    Fault(
        "3.1", "a bracket x a closed form", "readings/law.py",
        "_UNITS = 8.0  # for each", "_UNITS = 0.0  # for each",
        ("tests/readings/test_ends.py", "tests/sweep/test_sweep.py"),
    ),
    Fault(
        "4.1", "groups x batches of fixed size", "mechanisms/batches.py",
        "    how = Relation.ADD_REMOVE, Inclusion.FIXED_SIZE\n", "    how = Relation.ADD_REMOVE, Inclusion.COINS\n",
        ("tests/mechanisms/test_batches_enumerated.py", "tests/mechanisms/test_mixtures.py"),
    ),
    Fault(
        "4.2", "groups x batches that are always cut", "mechanisms/batches.py",
        "poisson_step(2 * mu, rate, neighbours, Inclusion.UNKNOWN)", "poisson_step(2 * mu, rate, neighbours)",
        ("tests/mechanisms/test_batches_enumerated.py", "tests/mechanisms/test_mixtures.py"),
    ),
    Fault(
        "4.3", "samples x shuffles", "mechanisms/batches.py",
        '    if any(part.origin == "shuffled" or "batches" in part.parameters for part in parts):', "    if False:",
        ("tests/mechanisms/test_sampling.py",),
    ),
    Fault(
        "4.5", "groups x scores of one table", "mechanisms/composition.py",
        "        require_any_table(part)\n", "",
        ("tests/mechanisms/test_composition.py",),
    ),
    Fault(
        "4.4", "samples x groups", "mechanisms/batches.py",
        '    if any("people" in part.parameters for part in parts):', "    if False:",
        ("tests/mechanisms/test_sampling.py",),
    ),
)  # fmt: skip
