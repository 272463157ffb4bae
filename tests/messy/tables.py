"""The messy tables by name: each function writes one into a folder, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.messy import bundled, health, money, public
from tests.messy.unseen import UNSEEN

TABLES: Mapping[str, Callable[[Path], Path]] = {
    "hospital": health.hospital,
    "clinic": health.clinic,
    "trial": health.trial,
    "phones": health.phones,
    "shop": money.shop,
    "payroll": money.payroll,
    "loans": money.loans,
    "school": public.school,
    "survey": public.survey,
    "panel": public.panel,
    "gym": public.gym,
    "census": public.census,
    "reserved": public.reserved,
    "insurance": bundled.insurance,
    "labour": bundled.labour,
} | UNSEEN
