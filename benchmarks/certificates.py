"""Claimed brackets judged by the checker of ``checker/``, and peers beside what it proves.

python benchmarks/certificates.py [--seconds 60] [--only NAME] [--json FILE]

Each builder in scope at ordinary and extreme parameters and four readings: the bracket is written down as a
certificate and judged in a process of its own, so that it shares nothing with us but the file. Peers that are
installed give ε, or the share of misses, of some of the same releases, and are put beside the enclosure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import epsilens as el

ROOT = Path(__file__).parents[1]
Release = dict[str, Any]
Case = tuple[str, el.Experiment, list[Release]]


def sampled(sigma: float, rate: float, steps: int, people: int = 1) -> Case:
    made = el.dpsgd(sigma=sigma, rate=rate, steps=steps, people=people)
    words = {"mechanism": "gaussian", "sigma": sigma, "rate": rate, "count": steps, "people": people}
    return ("DP-SGD" if people == 1 else "DP-SGD, group", made, [words])


def cases() -> Iterator[Case]:
    """Each with what it is called in the table."""
    for sigma, count in ((0.3, 1), (1.5, 1), (100.0, 1), (4.0, 16), (50.0, 1000), (2.0, 100_000)):
        yield "Gaussian", el.gaussian(sigma=sigma).repeat(count), [
            {"mechanism": "gaussian", "sigma": sigma, "count": count}
        ]  # fmt: skip
    for scale, count in ((100.0, 1), (1.0, 1), (0.1, 1), (1.0, 5), (10.0, 20), (10.0, 100), (20.0, 1000), (10.0, 300)):
        yield "Laplace", el.laplace(scale=scale).repeat(count), [
            {"mechanism": "laplace", "scale": scale, "count": count}
        ]  # fmt: skip
    for scale, shift, count in ((2.0, 1, 1), (2.0, 3, 30), (50.0, 5, 100)):
        yield "geometric", el.mechanisms.geometric(scale=scale, sensitivity=shift).repeat(count), [
            {"mechanism": "geometric", "scale": scale, "shift": shift, "count": count}
        ]  # fmt: skip
    for sigma, shift, count in ((0.5, 1, 1), (3.0, 2, 30), (50.0, 1, 10)):
        yield "discrete Gaussian", el.mechanisms.discrete_gaussian(sigma=sigma, sensitivity=shift).repeat(count), [
            {"mechanism": "discrete_gaussian", "sigma": sigma, "shift": shift, "count": count}
        ]  # fmt: skip
    for epsilon, categories, count in ((1.0, 2, 1), (1.0, 2, 100), (0.1, 10, 50), (5.0, 2, 3)):
        made = el.mechanisms.randomized_response(epsilon=epsilon, k=categories).repeat(count)
        words = {"mechanism": "randomized_response", "epsilon": epsilon, "categories": categories, "count": count}
        yield "randomized response", made, [words]
    for p0, p1, count in (([0.5, 0.25, 0.25], [0.25, 0.25, 0.5], 30), ([0.5, 0.375, 0.125], [0.125, 0.75, 0.125], 20)):
        yield "finite", el.mechanisms.finite(p0, p1).repeat(count), [
            {"mechanism": "finite", "p0": p0, "p1": p1, "count": count}
        ]  # fmt: skip
    for sigma in (1.0, 2.0):
        for rate in (0.01, 0.1):
            for steps in (1, 100, 1000, 10_000):
                yield sampled(sigma, rate, steps)
    for sigma, rate, steps in ((0.8, 0.001, 10_000), (1.0, 1e-4, 100_000), (4.0, 0.5, 1000), (1.0, 0.001, 1000)):
        yield sampled(sigma, rate, steps)
    yield sampled(1.0, 0.01, 1000, people=3)
    yield sampled(2.0, 0.02, 500, people=2)
    schedule = el.compose(el.dpsgd(sigma=2, rate=0.01, steps=500), el.dpsgd(sigma=1, rate=0.01, steps=500))
    yield "compositions", schedule, [*sampled(2.0, 0.01, 500)[2], *sampled(1.0, 0.01, 500)[2]]
    mixed = el.compose(el.dpsgd(sigma=1, rate=0.01, steps=1000), el.laplace(scale=5.0).repeat(3))
    yield "compositions", mixed, [*sampled(1.0, 0.01, 1000)[2], {"mechanism": "laplace", "scale": 5.0, "count": 3}]
    both = el.compose(el.laplace(scale=10.0).repeat(20), el.gaussian(sigma=2.0).repeat(3))
    yield "compositions", both, [
        {"mechanism": "laplace", "scale": 10.0, "count": 20}, {"mechanism": "gaussian", "sigma": 2.0, "count": 3}
    ]  # fmt: skip


READINGS: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("epsilon", "epsilon", {"delta": 1e-6}), ("delta", "delta", {"epsilon": 1.0}), ("advantage", "advantage", {}),
    ("fnr", "tradeoff", {"fpr": 0.01}),
)  # fmt: skip


def judged(releases: list[Release], claim: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What the checker answers about one claim."""
    entry = {"format": "epsilens-certificate/1", "numbers": "doubles", "releases": releases, **claim}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(entry, file)
        file.flush()
        command = [sys.executable, "-m", "epsilens_checker", file.name, "--seconds", str(seconds)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "checker")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"verdict": done.stderr, "enclosure": None}
    return answer


def width(ends: Any) -> float:
    return (ends[1] - ends[0]) / abs(ends[1]) if ends and ends[1] else 0.0


def rows(seconds: float, only: str) -> Iterator[dict[str, Any]]:
    for name, experiment, releases in cases():
        if only not in name:
            continue
        for reading, ours, arguments in READINGS:
            low, high = (float(end) for end in experiment.bracket(ours, **arguments))
            claim: dict[str, Any] = {"reading": reading, "lower": repr(low), "upper": repr(high)}
            claim |= {"relation": "remove" if reading == "fnr" else "both"}
            if arguments:
                (claim["at"],) = arguments.values()
            answer = judged(releases, claim, seconds)
            yield {"builder": name, "releases": releases, **claim, **answer, "claimed": width((low, high)),
                   "enclosed": width(answer["enclosure"])}  # fmt: skip


def peers(releases: list[Release]) -> Iterator[tuple[str, str, float, dict[str, Any]]]:
    """What others say of one kind of sampled releases: the peer, the order, its value, and the claim it makes."""
    (one,) = releases
    sigma, rate, steps = one["sigma"], one["rate"], one["count"]
    epsilon = {"reading": "epsilon", "at": 1e-6}
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld

        made = pld.from_gaussian_mechanism(sigma, sampling_prob=rate).self_compose(steps)
        yield "dp-accounting", "both", float(made.get_epsilon_for_delta(1e-6)), epsilon
        yield "dp-accounting δ(1)", "both", float(made.get_delta_for_epsilon(1.0)), {"reading": "delta", "at": 1.0}
        import riskcal

        beta = float(riskcal.analysis.get_beta_from_pld(made, alpha=0.01))
        yield "riskcal misses", "both", beta, {"reading": "fnr", "at": 0.01}
        yield (
            "riskcal advantage",
            "both",
            float(riskcal.analysis.get_advantage_from_pld(made)),
            {"reading": "advantage"},
        )
    except ImportError:
        pass
    try:
        import prv_accountant

        law = prv_accountant.PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)
        accountant = prv_accountant.PRVAccountant(
            prvs=[law], max_self_compositions=[steps], eps_error=0.01, delta_error=1e-9
        )
        low, middle, high = accountant.compute_epsilon(1e-6, [steps])
        yield "prv lower", "remove", float(low), epsilon
        yield "prv estimate", "remove", float(middle), epsilon
        yield "prv upper", "remove", float(high), epsilon
    except ImportError:
        pass


def beside() -> Iterator[dict[str, Any]]:
    """Each peer's value less the nearest end of the enclosure, relative: negative is below the truth."""
    for sigma, rate, steps in ((1.0, 0.01, 1000), (1.0, 0.001, 10_000), (2.0, 0.1, 1000), (1.0, 0.1, 100)):
        _, _, releases = sampled(sigma, rate, steps)
        for name, relation, value, claim in peers(releases):
            answer = judged(releases, {**claim, "relation": relation, "lower": 0, "upper": 1e6}, 60)
            low, high = answer["enclosure"]
            gap = (value - high) / high if value > high else (value - low) / low if value < low else 0.0
            yield {"σ, q, T": f"{sigma:g}, {rate:g}, {steps}", "peer": name, "value": value, "truth": low, "apart": gap}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    for row in rows(options.seconds, options.only):
        found.append(row)
        print(
            *(row[key] for key in ("builder", "reading", "verdict", "claimed", "enclosed", "seconds", "reason")),
            flush=True,
        )
    print("\n| builder | certified | open | refuted | width claimed | width enclosed | seconds, median | most |")
    for name in dict.fromkeys(row["builder"] for row in found):
        of = [row for row in found if row["builder"] == name]
        count = Counter(row["verdict"] for row in of)
        claimed = statistics.median(row["claimed"] for row in of)
        enclosed = statistics.median([row["enclosed"] for row in of if row["enclosure"]] or [1.0])
        seconds = [row["seconds"] for row in of]
        print(f"| {name} | {count['certified']} | {count['open']} | {count['refuted']} | {claimed:.1e} "
              f"| {enclosed:.1e} | {statistics.median(seconds):.2f} | {max(seconds):.1f} |")  # fmt: skip
    compared = [] if options.only else list(beside())
    for row in compared:
        print(row)
    if options.json:
        options.json.write_text(json.dumps({"claims": found, "peers": compared}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
