"""In and out of the field's own tools: claims (ε, δ), RDP, zCDP, GDP; dp-accounting, OpenDP, Opacus.

Names are loaded on first use, and the packages they speak to only when one is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_ROOMS = {
    "..build.claims": ("from_dp", "from_gdp", "from_rdp", "from_zcdp", "to_gdp", "to_rdp", "to_zcdp"),
    ".accounting": ("from_pld", "to_pld"),
    ".events": ("from_event",),
    ".loaders": ("loaded",),
    ".measurements": ("from_measurement", "to_measurement"),
    ".training": ("opacus_accountant", "trained"),
    ".written": ("to_event",),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

if TYPE_CHECKING:
    from ..build.claims import from_dp, from_gdp, from_rdp, from_zcdp, to_gdp, to_rdp, to_zcdp
    from .accounting import from_pld, to_pld
    from .events import from_event
    from .loaders import loaded
    from .measurements import from_measurement, to_measurement
    from .training import opacus_accountant, trained
    from .written import to_event

__all__ = [
    "from_dp", "from_event", "from_gdp", "from_measurement", "from_pld", "from_rdp", "from_zcdp", "loaded",
    "opacus_accountant", "to_event", "to_gdp", "to_measurement", "to_pld", "to_rdp", "to_zcdp", "trained",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'epsilens.bridges' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
