"""One release, side by side with riskcal, gdpnum, dp-accounting and bare scipy, in one run.

python benchmarks/single.py [--json FILE] [--quick]

Times are medians of CPU time in one thread. Peers are called as their own documentation shows, at their default
tolerances. A peer that is not installed is named and left out.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402 - after the thread limits
from scipy.special import ndtr, ndtri  # noqa: E402

import epsilens as el  # noqa: E402

Row = dict[str, Any]


def cpu_ms(f: Callable[[], object], *, repeat: int = 41, least: float = 2e-3) -> float:
    """Median CPU milliseconds of one call; fast calls are looped until a sample lasts ``least`` seconds."""
    f()
    start = time.process_time()
    f()
    once = time.process_time() - start
    loops = max(1, int(least / max(once, 1e-7)))
    times = []
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(loops):
            f()
        times.append((time.process_time() - start) / loops)
    return 1e3 * statistics.median(times)


def interleaved(tasks: dict[str, Callable[[], object]], slow: set[str], quick: bool) -> dict[str, float]:
    """Medians of several tasks; the fast ones are measured three times in turn, and the median of medians kept."""
    out: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(3):
        for name, f in tasks.items():
            if name not in slow:
                out[name].append(cpu_ms(f, repeat=15))
    for name in slow & set(tasks):
        out[name].append(cpu_ms(tasks[name], repeat=1 if quick else 5))
    return {name: statistics.median(v) for name, v in out.items()}


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "riskcal", "gdpnum", "dp-accounting", "mpmath"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "missing"
    return {**found, "epsilens": el.__version__}


def truth() -> tuple[float, float]:
    """σ for advantage .1 and for TPR .05 at FPR .01, from mpmath at 40 digits (or the values it gives)."""
    try:
        from mpmath import mp, mpf
    except ImportError:
        return 3.978948280545273, 1.4673638174804198
    with mp.workdps(40):
        first = 1 / (2 * mp.sqrt(2) * mp.erfinv(mpf("0.1")))

        def probit(p: str) -> Any:
            return mp.sqrt(2) * mp.erfinv(2 * mpf(p) - 1)

        return float(first), float(1 / (probit("0.05") - probit("0.01")))


def exceeds(reading: str, sigma: float, limit: float) -> float:
    """By what share of the limit the risk at σ exceeds it, in mpmath; negative on the safe side."""
    try:
        from mpmath import mp, mpf
    except ImportError:
        e = el.gaussian(sigma=sigma)
        return float((e.advantage() if reading == "advantage" else e.roc(0.01)) / limit - 1)
    with mp.workdps(40):
        if reading == "advantage":
            risk = mp.erf(1 / (mpf(sigma) * mp.sqrt(8)))
        else:
            risk = mp.ncdf(mp.sqrt(2) * mp.erfinv(2 * mpf(0.01) - 1) + 1 / mpf(sigma))
        return float(risk / mpf(limit) - 1)


def curves(have: dict[str, str], quick: bool) -> list[Row]:
    alpha = np.linspace(0.001, 0.999, 1000)
    mu, epsilon = 1.0, 1.0
    gauss, lap = el.gaussian(psi=mu), el.laplace(epsilon=epsilon)
    normal: dict[str, Callable[[], object]] = {
        "bare scipy: ndtr(ndtri(1-a)-mu)": lambda: ndtr(ndtri(1 - alpha) - mu),
        "epsilens: e.tradeoff(a)": lambda: gauss.tradeoff(alpha),
        "epsilens: el.gaussian(psi=1).tradeoff(a)": lambda: el.gaussian(psi=mu).tradeoff(alpha),
    }
    laplace: dict[str, Callable[[], object]] = {
        "epsilens: e.tradeoff(a)": lambda: lap.tradeoff(alpha),
        "epsilens: el.laplace(epsilon=1).tradeoff(a)": lambda: el.laplace(epsilon=epsilon).tradeoff(alpha),
    }
    slow: set[str] = set()
    if have["riskcal"] != "missing":
        from dp_accounting.pld import privacy_loss_distribution as pld
        from riskcal import analysis

        normal["riskcal: get_beta_from_gdp"] = lambda: analysis.get_beta_from_gdp(mu, alpha)

        def normal_pld() -> object:
            return analysis.get_beta_from_pld(pld.from_gaussian_mechanism(1.0), alpha)

        def laplace_pld() -> object:
            return analysis.get_beta_from_pld(pld.from_laplace_mechanism(1.0), alpha)

        normal["riskcal: get_beta_from_pld"], laplace["riskcal: get_beta_from_pld"] = normal_pld, laplace_pld
        slow |= {"riskcal: get_beta_from_pld"}
    if have["gdpnum"] != "missing":
        import gdpnum
        from dp_accounting.pld import privacy_loss_distribution as pld

        normal["gdpnum: PLDConverter"] = lambda: gdpnum.PLDConverter(pld.from_gaussian_mechanism(1.0)).get_beta(alpha)
        laplace["gdpnum: PLDConverter"] = lambda: gdpnum.PLDConverter(pld.from_laplace_mechanism(1.0)).get_beta(alpha)
        slow |= {"gdpnum: PLDConverter"}
    rows = []
    for title, tasks in (("curve of 1000 α, normal ψ=1", normal), ("curve of 1000 α, Laplace ε=1", laplace)):
        exact = gauss.tradeoff(alpha) if "normal" in title else lap.tradeoff(alpha)
        times = interleaved(tasks, slow, quick)
        for name, ms in times.items():
            off = float(np.max(np.abs(np.asarray(tasks[name]()) - exact)))
            rows.append({"task": title, "who": name, "ms": ms, "largest absolute difference": off})
    return rows


def calibrations(have: dict[str, str], quick: bool) -> list[Row]:
    first, second = truth()
    rows: list[Row] = []
    for title, exact, reading, limit, arguments in (
        ("σ for advantage .1", first, "advantage", 0.1, {}),
        ("σ for TPR 5% at FPR 1%", second, "roc", 0.05, {"fpr": 0.01}),
    ):
        tasks: dict[str, Callable[[], float]] = {}
        slow: set[str] = set()

        def ours(reading: str = reading, limit: float = limit, arguments: dict[str, float] = arguments) -> float:
            chosen: Any = el.choose
            return float(chosen(el.gaussian, "sigma", at_most=limit, reading=reading, **arguments).value)

        def closed(reading: str = reading) -> float:
            if reading == "advantage":
                return float(1 / (2 * ndtri(0.55)))
            return float(1 / (ndtri(0.05) - ndtri(0.01)))

        tasks["epsilens: el.choose"] = ours
        tasks["bare scipy: closed form, nothing checked"] = closed
        if have["riskcal"] != "missing":
            from dp_accounting.pld import privacy_loss_distribution as pld
            from riskcal import analysis, calibration

            def riskcal(route: str, reading: str = reading) -> float:
                def evaluate(sigma: float) -> Any:
                    if route == "GDP":
                        if reading == "advantage":
                            return calibration.PrivacyMetrics(advantage=analysis.get_advantage_from_gdp(1 / sigma))
                        return calibration.PrivacyMetrics(beta=analysis.get_beta_from_gdp(1 / sigma, 0.01))
                    loss = pld.from_gaussian_mechanism(sigma)
                    if reading == "advantage":
                        return calibration.PrivacyMetrics(advantage=analysis.get_advantage_from_pld(loss))
                    return calibration.PrivacyMetrics(beta=analysis.get_beta_from_pld(loss, 0.01))

                kind = "advantage" if reading == "advantage" else "err_rates"
                goal = {"advantage": 0.1} if reading == "advantage" else {"alpha": 0.01, "beta": 0.95}
                result = calibration.calibrate_parameter(
                    evaluate,
                    calibration.CalibrationTarget(kind=kind, **goal),
                    calibration.CalibrationConfig(param_min=0.05, increasing=reading != "advantage"),
                )
                return float(result.parameter_value)

            tasks["riskcal: calibrate_parameter, GDP"] = lambda r=riskcal: r("GDP")  # type: ignore[misc]
            tasks["riskcal: calibrate_parameter, PLD"] = lambda r=riskcal: r("PLD")  # type: ignore[misc]
            slow.add("riskcal: calibrate_parameter, PLD")
        if have["dp-accounting"] != "missing" and reading == "advantage":
            from dp_accounting.pld import common, privacy_loss_mechanism

            def google() -> float:
                goal = common.DifferentialPrivacyParameters(0.0, 0.1)
                loss = privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(goal)
                return float(loss.standard_deviation)

            tasks["dp-accounting: GaussianPrivacyLoss"] = google
        for name in list(tasks):
            if name not in slow:
                try:
                    tasks[name]()
                except Exception as problem:  # a peer that fails is a result, not a reason to stop
                    rows.append({"task": title, "who": name, "failed": f"{type(problem).__name__}: {problem}"})
                    del tasks[name]
        times = interleaved({k: v for k, v in tasks.items() if k not in slow}, slow, quick)
        found = {name: tasks[name]() for name in times}
        for name in slow & set(tasks):  # seconds each: once (quick) or three times, without a warm-up
            samples = []
            for _ in range(1 if quick else 3):
                start = time.process_time()
                found[name] = tasks[name]()
                samples.append(1e3 * (time.process_time() - start))
                if samples[-1] > 20_000:
                    break
            times[name] = statistics.median(samples)
        for name, ms in times.items():
            value = found[name]
            rows.append(
                {
                    "task": title,
                    "who": name,
                    "ms": ms,
                    "sigma": value,
                    "relative error": value / exact - 1,
                    "excess": exceeds(reading, value, limit),
                }
            )
    return rows


def imports(quick: bool) -> list[Row]:
    """CPU time of the import statement alone, in fresh interpreters, in turn."""
    statements = {
        "import numpy": "import numpy",
        "import scipy.special": "import scipy.special",
        "import epsilens": "import epsilens",
        "import epsilens; epsilens.laplace": "import epsilens; epsilens.laplace",
        "import epsilens; epsilens.choose": "import epsilens; epsilens.choose",
    }
    for package, name in (("riskcal", "import riskcal"), ("dp_accounting", "import dp_accounting")):
        try:
            importlib.metadata.version(package)
            statements[name] = name
        except importlib.metadata.PackageNotFoundError:
            pass
    samples: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(3 if quick else 11):
        for name, statement in statements.items():
            code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            samples[name].append(1e3 * float(done.stdout))
    return [{"task": "import", "who": name, "ms": statistics.median(v)} for name, v in samples.items()]


def targets(rows: list[Row]) -> list[Row]:
    """What the issue asks for, and whether this run meets it."""
    time_of = {(r["task"], r["who"]): r["ms"] for r in rows if "ms" in r}
    row_of = {(r["task"], r["who"]): r for r in rows}
    out: list[Row] = []

    def ratio(name: str, task: str, a: str, b: str, most: float, *, other: str | None = None) -> None:
        x, y = time_of.get((task, a)), time_of.get((other or task, b))
        if x is None or y is None:
            out.append({"target": name, "ratio": None, "met": None})
        else:
            out.append({"target": name, "ratio": x / y, "met": x / y <= most})

    normal, laplace = "curve of 1000 α, normal ψ=1", "curve of 1000 α, Laplace ε=1"
    bare = "bare scipy: ndtr(ndtri(1-a)-mu)"
    ratio("normal curve ≤ 2× the bare floor", normal, "epsilens: e.tradeoff(a)", bare, 2)
    ratio("normal curve with its construction ≤ 2× the bare floor", normal,
          "epsilens: el.gaussian(psi=1).tradeoff(a)", bare, 2)  # fmt: skip
    for who in ("riskcal: get_beta_from_pld", "gdpnum: PLDConverter"):
        ratio(f"Laplace curve not slower than {who}", laplace, "epsilens: el.laplace(epsilon=1).tradeoff(a)", who, 1)
    ratio("Laplace curve ≤ 2× the bare normal floor", laplace, "epsilens: e.tradeoff(a)", bare, 2, other=normal)
    for task in ("σ for advantage .1", "σ for TPR 5% at FPR 1%"):
        ratio(f"{task}: ≥ 10× faster than riskcal's GDP route", task, "epsilens: el.choose",
              "riskcal: calibrate_parameter, GDP", 1 / 10)  # fmt: skip
        ratio(f"{task}: ≥ 1000× faster than riskcal's PLD route", task, "epsilens: el.choose",
              "riskcal: calibrate_parameter, PLD", 1 / 1000)  # fmt: skip
        ours = row_of[(task, "epsilens: el.choose")]
        met = abs(ours["relative error"]) <= 1e-10 and ours["excess"] <= 1e-15
        title = f"{task}: relative error ≤ 1e-10, excess ≤ 1e-15 (rounding)"
        out.append({"target": title, "ratio": ours["relative error"], "met": met})
    for name in ("import epsilens", "import epsilens; epsilens.laplace"):
        ratio(f"{name} ≤ 1.3× import scipy.special", "import", name, "import scipy.special", 1.3)
    return out


def show(report: dict[str, Any]) -> None:
    print(f"{report['date']}, {report['machine']}")
    print(", ".join(f"{k} {v}" for k, v in report["versions"].items()))
    for name in report["missing"]:
        print(f"missing: {name} is not installed, so its rows are left out")
    task = ""
    for row in report["rows"]:
        if row["task"] != task:
            task = row["task"]
            print(f"\n{task}")
        if "failed" in row:
            print(f"  {row['who']:<46} failed: {row['failed']}")
            continue
        more = ""
        if "sigma" in row:
            over = row["excess"]
            side = "safe" if over <= 0 else "safe up to rounding" if over <= 1e-15 else "VIOLATES the target"
            side = f"{side} ({over:+.1e} of the limit)"
            more = f"σ = {row['sigma']:.9f}  error {row['relative error']:+.1e}  {side}"
        elif "largest absolute difference" in row:
            more = f"differs by {row['largest absolute difference']:.1e}"
        print(f"  {row['who']:<46} {row['ms']:12.4f} ms  {more}")
    print("\ntargets")
    for row in report["targets"]:
        word = {True: "met", False: "MISSED", None: "not measured"}[row["met"]]
        value = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
        print(f"  {word:<12} {row['target']:<76} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the report there too")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions of the slow rows")
    options = parser.parse_args()
    have = versions()
    rows = curves(have, options.quick) + calibrations(have, options.quick) + imports(options.quick)
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "versions": have,
        "missing": [name for name, version in have.items() if version == "missing"],
        "rows": rows,
        "targets": targets(rows),
    }
    show(report)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
