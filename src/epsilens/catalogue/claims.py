"""Claims about a release whose noise is not known, each once: what ``explain`` reads besides the mechanisms."""

from __future__ import annotations

from .mechanisms import Entry

__all__ = ["CLAIMS", "Claim"]


class Claim(Entry):
    """A claim: the experiment built from it is the riskiest one it allows."""

    __slots__ = ()


CLAIMS: dict[str, Claim] = {
    c.key: c
    for c in (
        Claim(
            "zcdp",
            "Any ρ-zCDP release",
            "epsilens.build.claims:from_zcdp",
            ("rho", "xi", "neighbours"),
            needs=("rho",),
            note="Zero-concentrated differential privacy: D_a ≤ ξ + ρ·a at every order a.",
        ),
        Claim(
            "rdp",
            "Any Rényi-DP release",
            "epsilens.build.claims:from_rdp",
            ("orders", "rho", "neighbours"),
            needs=("orders", "rho"),
            renamed={"orders": "order"},
            note="Rényi differential privacy at one order or several.",
        ),
        Claim(
            "gdp",
            "Any μ-GDP release",
            "epsilens.build.claims:from_gdp",
            ("mu", "neighbours"),
            needs=("mu",),
            note="Gaussian differential privacy: at most as risky as N(0, 1) against N(μ, 1).",
        ),
    )
}
