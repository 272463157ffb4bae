"""Plans to start from: one for each bundled table, the same as the files of ``examples/``."""

from __future__ import annotations

DEFAULT = "epsilens:rand-hie"

#: A plan to start from for each bundled table: those of ``examples/``.
EXAMPLES = {
    "epsilens:rand-hie": """title: Mental-health visits by site
data:
  table: epsilens:rand-hie
  person: person
  max_rows: 5
  quasi_identifiers: [site, age, female, black, education]
  secret:
    name: a mental-health visit
    where: mental_visits > 0
    columns: [mental_cost]
queries:
- name: Count of people with a visit
  count: mental_visits > 0
  by: site
  groups: [1, 2, 3, 4, 5, 6]
- sum: visits
  bounds: [0, 77]
- average: income
  bounds: [0, 30000]
mechanism: {noise: laplace, epsilon: 1.0}
adversary: {prior: 0.5, belief: 0.07, knows: one answer}
limits: {success: 0.55, posterior: 0.12, attack_success: 0.02, error: 0.15}
""",
    "epsilens:adult": """title: High incomes by occupation
data:
  table: epsilens:adult
  quasi_identifiers: [age, sex, race, marital_status, native_country]
  secret:
    name: an income above 50,000
    where: income = '>50K'
    columns: [capital_gain, capital_loss]
queries:
- name: People with a high income
  count: income = '>50K'
  by: occupation
  threshold: auto
- name: Capital gains
  sum: capital_gain
  bounds: [0, 20000]
- name: Hours worked a week
  average: hours_per_week
  bounds: [0, 80]
  by: sex
  groups: [Female, Male]
mechanism: {noise: laplace, epsilon: 1.0, delta: 1.0e-6, split: least error}
adversary: {prior: 0.5, knows: nothing}
limits: {success: 0.65, error: 0.5}
""",
}
