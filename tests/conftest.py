"""One Hypothesis profile for everyone: the same examples on every run and every machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "epsilens",
    derandomize=True,
    deadline=None,
    max_examples=40,
    print_blob=False,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("epsilens")
