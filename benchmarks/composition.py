"""Many releases, side by side with dp-accounting, riskcal, gdpnum, prv-accountant and Opacus, in one run.

python benchmarks/composition.py [--json FILE] [--quick] [--only NAME]

CPU time in one thread: beside a peer the least of several runs in turns, otherwise medians. Every row says how
accurate each answer is: ours as the width of its bracket and the distance of its upper end from the truth, theirs as
the distance from the truth (signed: negative claims less risk than there is). Ours are asked for their usual relative
width of 0.001 and mostly come out far narrower. Truths of ε are those of the reference sheet, to nine digits. A peer
that is not installed is named and left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import time
from collections.abc import Callable
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402 - after the thread limits

import epsilens as el  # noqa: E402

Task = Callable[[], Any]
Build = Callable[[], el.Experiment]
PATIENCE = 120.0  # CPU seconds a peer's calibration may take


def cpu_ms(f: Task, repeat: int) -> tuple[float, Any]:
    """Median CPU milliseconds, and the last answer."""
    times, answer = [], None
    for _ in range(repeat):
        start = time.process_time()
        answer = f()
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times), answer


def beside(ours: Task, theirs: Task, repeat: int) -> tuple[float, float, Any]:
    """CPU milliseconds of ours and of theirs, taken in turns, and their answer.

    The least of several runs, as other work on the machine only ever adds to it.
    """
    mine, other, answer = [], [], None
    for _ in range(repeat):
        mine += [cpu_ms(ours, 1)[0] for _ in range(5)]
        ms, answer = cpu_ms(theirs, 1)
        other.append(ms)
    return min(mine), min(other), answer


def peers() -> dict[str, Any]:
    """Whatever is installed, by name."""
    found: dict[str, Any] = {}
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld

        found["dp-accounting"] = pld
    except ImportError:
        pass
    try:
        import riskcal

        found["riskcal"] = riskcal
    except ImportError:
        pass
    try:
        import prv_accountant

        found["prv-accountant"] = prv_accountant
    except ImportError:
        pass
    try:
        from opacus.accountants.utils import get_noise_multiplier

        found["opacus"] = get_noise_multiplier
    except ImportError:
        pass
    try:
        import gdpnum

        found["gdpnum"] = gdpnum
    except ImportError:
        pass
    return found


def both_orders(build: Callable[[], el.Experiment], delta: float) -> Task:
    """ε with both orders and both sides: the whole bracket."""
    return lambda: build().bracket("epsilon", delta=delta)


def _training(rate: float) -> tuple[Build, Callable[[Any], Any], Callable[[Any], Any]]:
    """DP-SGD with σ = 1 and ten thousand steps: ours, dp-accounting's and prv-accountant's."""
    return (
        lambda: el.dpsgd(sigma=1.0, rate=rate, steps=10_000),
        lambda p: p.from_gaussian_mechanism(1.0, sampling_prob=rate).self_compose(10_000),
        lambda p: ([p.PoissonSubsampledGaussianMechanism(noise_multiplier=1.0, sampling_probability=rate)], [10_000]),
    )


def epsilon_rows(found: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """ε of compositions, at equal error of the upper end."""
    pld = found.get("dp-accounting")
    prv = found.get("prv-accountant")
    cases: list[tuple[str, float, float, Build, Callable[[Any], Any], Callable[[Any], Any]]] = [
        (f"DP-SGD q={rate:g}", 1e-5, truth, *_training(rate))
        for rate, truth in ((0.001, 0.475761289), (0.01, 6.187712390))
    ]
    cases += [
        (
            "Laplace b=20 ×1000",
            1e-6,
            8.204440344,
            lambda: el.laplace(scale=20.0).repeat(1000),
            lambda p: p.from_laplace_mechanism(20.0).self_compose(1000),
            lambda p: ([p.LaplaceMechanism(mu=0.05)], [1000]),
        ),
        (
            "100 Laplace + 100 Gaussian",
            1e-6,
            3.277005009,
            lambda: el.compose(el.laplace(scale=20.0).repeat(100), el.gaussian(sigma=20.0).repeat(100)),
            lambda p: (
                p.from_laplace_mechanism(20.0)
                .self_compose(100)
                .compose(p.from_gaussian_mechanism(20.0).self_compose(100))
            ),
            lambda p: ([p.LaplaceMechanism(mu=0.05), p.GaussianMechanism(noise_multiplier=20.0)], [100, 100]),
        ),
    ]
    rows = []
    for name, delta, truth, ours, theirs, random_variables in cases:
        repeat = 3 if quick else 9
        row: dict[str, Any] = {"task": f"ε, {name}"}
        task = both_orders(ours, delta)
        ms, (low, high) = cpu_ms(task, repeat)
        row |= {"ours ms": ms, "ours width": high - low, "ours error": high - truth}
        if pld is not None:
            row["ours ms"], ms, value = beside(task, lambda t=theirs, d=delta: t(pld).get_epsilon_for_delta(d), repeat)  # type: ignore[misc]
            row |= {"dp-accounting ms": ms, "dp-accounting error": value - truth, "ratio": ms / row["ours ms"]}
        if prv is not None:
            ms, value = cpu_ms(lambda v=random_variables, d=delta: _prv_epsilon(prv, v, d), 1 if quick else 3)  # type: ignore[misc]
            row |= {"prv ms": ms, "prv error": value - truth, "prv ratio": ms / row["ours ms"]}
        if "opacus" in found and name.startswith("DP-SGD"):
            rate = float(name.split("=")[1])
            ms, value = cpu_ms(lambda r=rate: _opacus_epsilon(r), 1 if quick else 3)  # type: ignore[misc]
            row |= {"opacus PRV ms": ms, "opacus error": value - truth, "opacus ratio": ms / row["ours ms"]}
        rows.append(row)
    return rows


def _prv_epsilon(prv: Any, random_variables: Callable[[Any], Any], delta: float) -> float:
    """The upper end of prv-accountant's interval, at its usual error of .01."""
    laws, counts = random_variables(prv)
    accountant = prv.PRVAccountant(prvs=laws, max_self_compositions=counts, eps_error=0.01, delta_error=1e-3 * delta)
    return float(accountant.compute_epsilon(delta, counts)[2])


def _opacus_epsilon(rate: float) -> float:
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.history = [(1.0, rate, 10_000)]
    return float(accountant.get_epsilon(1e-5))


def curve_rows(found: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """A trade-off curve of 1000 points, and one of 100 000 to a width of 1e-5."""
    rows = []
    for rate, points, width in [(r, n, w) for n, w in ((1000, 1e-3), (100_000, 1e-5)) for r in (0.001, 0.01)]:
        alpha = np.linspace(0.001, 0.999, points)

        def ours(r: float = rate, w: float = width, a: Any = alpha) -> Any:
            return el.dpsgd(sigma=1.0, rate=r, steps=10_000, width=w).tradeoff(a)

        ends = el.dpsgd(sigma=1.0, rate=rate, steps=10_000, width=width).bracket("tradeoff", alpha=alpha)
        ms, curve = cpu_ms(ours, 3)
        row: dict[str, Any] = {
            "task": f"curve of {points} α, DP-SGD q={rate:g}",
            "ours ms": ms,
            "ours width": float(np.max(np.asarray(ends[1]) - np.asarray(ends[0]))),
        }
        riskcal, pld = found.get("riskcal"), found.get("dp-accounting")
        if riskcal is not None and pld is not None:

            def theirs(r: float = rate, a: Any = alpha, pld: Any = pld, riskcal: Any = riskcal) -> Any:
                made = pld.from_gaussian_mechanism(1.0, sampling_prob=r).self_compose(10_000)
                return riskcal.analysis.get_beta_from_pld(made, alpha=a)

            row["ours ms"], ms, value = beside(ours, theirs, 1 if quick else 3)
            worst = float(np.min(curve - np.asarray(value)))
            row |= {"riskcal ms": ms, "riskcal above our safe curve by": -worst, "ratio": ms / row["ours ms"]}
        if "gdpnum" in found:

            def numeric(r: float = rate, a: Any = alpha, gdpnum: Any = found["gdpnum"]) -> Any:
                accountant = gdpnum.CTDAccountant()
                accountant.history = [(1.0, r, 10_000)]
                return accountant.get_beta(alpha=a)

            mine, ms, value = beside(ours, numeric, 1 if quick else 3)
            above = float(np.max(np.asarray(value) - curve))
            row |= {"gdpnum ms": ms, "gdpnum above our safe curve by": above, "gdpnum ratio": ms / mine}
        rows.append(row)
    return rows


def psi_rows(found: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """ψ of composed Laplace noise, beside gdpnum's μ."""
    rows = []
    for scale, count in ((20.0, 1000), (10.0, 100), (1.0, 10)):

        def ours(b: float = scale, k: int = count) -> Any:
            return el.laplace(scale=b).repeat(k).bracket("psi")

        ms, (low, high) = cpu_ms(ours, 3)
        row: dict[str, Any] = {"task": f"ψ of Laplace b={scale:g} ×{count}", "ours ms": ms, "low": low, "high": high}
        if "gdpnum" in found and "dp-accounting" in found:

            def theirs(
                b: float = scale, k: int = count, g: Any = found["gdpnum"], p: Any = found["dp-accounting"]
            ) -> Any:
                return g.PLDConverter(p.from_laplace_mechanism(b).self_compose(k)).get_mu()

            row["ours ms"], ms, value = beside(ours, theirs, 3 if quick else 9)
            row |= {"gdpnum ms": ms, "gdpnum μ": value, "ratio": ms / row["ours ms"]}
        rows.append(row)
    return rows


def sweep_rows(found: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """ε at many values of σ. dp-accounting is asked at every tenth, and its time multiplied."""
    rows = []
    for rate in (0.001, 0.01):
        given = {"rate": rate, "steps": 10_000}
        for count in (10, 100, 1000) if not quick else (10, 100):
            values = np.geomspace(0.7, 4.0, count)

            def ours(v: Any = values, g: Any = given) -> Any:
                swept = el.sweep(el.dpsgd, sigma=v, reading="epsilon", given=g, delta=1e-5, progress=False)
                return swept.low["epsilon"], swept.high["epsilon"]

            ms, (low, high) = cpu_ms(ours, 1)
            row: dict[str, Any] = {
                "task": f"ε at {count} σ, q={rate:g}",
                "ours ms": ms,
                "ours relative width": float(np.max((high - low) / high)),
            }
            pld = found.get("dp-accounting")
            if pld is not None and count == 100:
                ms = mine = 0.0
                for i in range(0, count, 10):
                    mine += cpu_ms(lambda v=values[i : i + 10]: ours(v), 1)[0]  # type: ignore[misc]
                    made = pld.from_gaussian_mechanism
                    ms += (
                        10
                        * cpu_ms(
                            lambda s=values[i], r=rate, made=made: (  # type: ignore[misc]
                                made(float(s), sampling_prob=r).self_compose(10_000).get_epsilon_for_delta(1e-5)
                            ),
                            1,
                        )[0]
                    )
                row |= {"ours ms": mine, "dp-accounting ms": ms, "ratio": ms / mine}
            rows.append(row)
    return rows


def calibration_rows(found: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """The noise for a limit."""
    rows = []
    for rate in (0.001, 0.01):
        given = {"rate": rate, "steps": 10_000}
        tasks: list[tuple[str, dict[str, Any]]] = [
            ("advantage ≤ .1", {"at_most": 0.1, "reading": "advantage"}),
            ("TPR ≤ 5% at FPR 1%", {"at_most": 0.05, "reading": "roc", "fpr": 0.01}),
            ("ε ≤ 1 at δ=1e-5", {"at_most": 1.0, "reading": "epsilon", "delta": 1e-5}),
        ]
        for name, arguments in tasks:
            ms, choice = cpu_ms(lambda a=arguments, g=given: el.choose(el.dpsgd, "sigma", given=g, **a), 3)  # type: ignore[misc]
            row: dict[str, Any] = {
                "task": f"σ for {name}, q={rate:g}",
                "ours ms": ms,
                "ours σ": choice.value,
                "ours reaches": choice.reading,
            }
            if "epsilon" in arguments["reading"] and "opacus" in found:
                ms, sigma = cpu_ms(
                    lambda r=rate: found["opacus"](  # type: ignore[misc]
                        target_epsilon=1.0, target_delta=1e-5, sample_rate=r, steps=10_000, accountant="prv"
                    ),
                    1,
                )
                row |= {"opacus PRV ms": ms, "opacus σ": sigma, "opacus ratio": ms / row["ours ms"]}
            if "epsilon" in arguments["reading"] and "dp-accounting" in found:
                ms, sigma = cpu_ms(lambda r=rate: _dpacc_sigma(r), 1)  # type: ignore[misc]
                row |= {"dp-accounting ms": ms, "dp-accounting σ": sigma, "dp-accounting ratio": ms / row["ours ms"]}
            if not quick and "riskcal" in found and "epsilon" not in arguments["reading"]:
                row |= _riskcal_sigma(found["riskcal"], name, rate, row["ours ms"])
            rows.append(row)
    return rows


def _dpacc_sigma(rate: float) -> float:
    import dp_accounting
    from dp_accounting import pld

    def event(sigma: float) -> Any:
        inner = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(inner, 10_000)

    return float(
        dp_accounting.calibrate_dp_mechanism(
            lambda: pld.PLDAccountant(),
            event,
            1.0,
            1e-5,
            bracket_interval=dp_accounting.ExplicitBracketInterval(0.3, 20.0),
            tol=1e-3,
        )
    )


def _riskcal_sigma(riskcal: Any, name: str, rate: float, ours: float) -> dict[str, Any]:
    try:
        dpsgd = riskcal.dpsgd
        if name.startswith("advantage"):
            task: Task = lambda: dpsgd.find_noise_multiplier_for_advantage(  # noqa: E731
                advantage=0.1, sample_rate=rate, num_steps=10_000
            )
        else:
            task = lambda: dpsgd.find_noise_multiplier_for_err_rates(  # noqa: E731
                alpha=0.01, beta=0.95, sample_rate=rate, num_steps=10_000
            )
        signal.signal(signal.SIGVTALRM, _out_of_time)
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        ms, sigma = cpu_ms(task, 1)
        return {"riskcal ms": ms, "riskcal σ": float(sigma), "riskcal ratio": ms / ours}
    except TimeoutError:
        return {"riskcal": f"not done after {PATIENCE:g} s", "riskcal ratio above": 1e3 * PATIENCE / ours}
    except Exception as error:  # a peer's own failure is a result
        return {"riskcal": f"{type(error).__name__}: {error}"[:100]}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _out_of_time(number: int, frame: Any) -> None:
    raise TimeoutError


def growth_rows() -> list[dict[str, Any]]:
    """How time and width grow with the number of steps, and of points."""
    rows = []
    for points in (100, 1000, 10_000, 100_000, 1_000_000):
        alpha = np.linspace(1e-6, 1 - 1e-6, points)
        ms, _ = cpu_ms(lambda a=alpha: el.dpsgd(sigma=1.0, rate=0.01, steps=10_000).tradeoff(a), 3)  # type: ignore[misc]
        rows.append({"task": f"curve of {points} α", "ours ms": ms})
    for power in (2, 3, 4, 5, 6):
        steps = 10**power
        rate = 0.01 / np.sqrt(steps / 1e4)
        ms, (low, high) = cpu_ms(
            both_orders(lambda s=steps, r=rate: el.dpsgd(sigma=1.0, rate=min(float(r), 1.0), steps=s), 1e-5),  # type: ignore[misc]
            3,
        )
        rows.append(
            {
                "task": f"ε of 10^{power} steps, q={min(float(rate), 1.0):.3g}",
                "ours ms": ms,
                "ours ε": high,
                "ours width": (high - low) / high,
            }
        )
    return rows


def unlike_rows() -> list[dict[str, Any]]:
    """Readings of many mechanisms of which no two are alike, and of two whose losses share no lattice."""
    sigmas, rates = np.linspace(0.8, 2.5, 100), {"fpr": np.linspace(0, 1, 1000)}

    def laplaces(epsilons: Any) -> list[el.Experiment]:
        return [el.laplace(epsilon=e) for e in epsilons]

    cases: dict[str, tuple[Callable[[], list[el.Experiment]], str, dict[str, Any]]] = {
        "ψ of 50 Laplace, ε .02 to .2": (lambda: laplaces(np.linspace(0.02, 0.2, 50)), "psi", {}),
        "μ of 50 Laplace, ε .01 to 1": (lambda: laplaces(np.geomspace(0.01, 1, 50)), "mu", {}),
        "ψ of 50 Laplace, ε .1 to 1, sampled at .05": (
            lambda: [el.subsample(one, 0.05) for one in laplaces(np.linspace(0.1, 1, 50))], "psi", {},
        ),
        "μ of 10 steps at each of 100 σ, q=.01": (
            lambda: [el.dpsgd(sigma=s, rate=0.01, steps=10) for s in sigmas], "mu", {},
        ),
        "μ of 100 steps at each of 100 σ, q=.001": (
            lambda: [el.dpsgd(sigma=s, rate=0.001, steps=100) for s in sigmas], "mu", {},
        ),
        "1000 rates of Laplace ε .5 and √2": (lambda: laplaces((0.5, math.sqrt(2))), "roc", rates),
    }  # fmt: skip
    rows = []
    for task, (parts, reading, given) in cases.items():
        ms, (low, high) = cpu_ms(lambda p=parts, r=reading, g=given: el.compose(*p()).bracket(r, **g), 1)  # type: ignore[misc]
        width = float(np.max(np.where(high > 0, (high - low) / np.maximum(high, 1e-300), 0.0)))
        rows.append({"task": task, "ours ms": ms, "ours relative width": width})
    return rows


GROUPS: dict[str, Callable[[dict[str, Any], bool], list[dict[str, Any]]]] = {
    "epsilon": epsilon_rows,
    "curve": curve_rows,
    "psi": psi_rows,
    "sweep": sweep_rows,
    "calibration": calibration_rows,
    "growth": lambda found, quick: growth_rows(),
    "unlike": lambda found, quick: unlike_rows(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=GROUPS)
    options = parser.parse_args()
    found = peers()
    missing = {"dp-accounting", "riskcal", "prv-accountant", "opacus", "gdpnum"} - set(found)
    if missing:
        print("not installed:", ", ".join(sorted(missing)))
    el.dpsgd(sigma=1.0, rate=0.01, steps=100).epsilon(1e-5)  # warm
    rows = []
    for name, group in GROUPS.items():
        if options.only in (None, name):
            for row in group(found, options.quick):
                rows.append(row)
                shown = ", ".join(
                    f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items() if k != "task"
                )
                print(f"{row['task']}: {shown}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
