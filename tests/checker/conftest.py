"""What the checker's tests share: the precision that its command sets, and one enclosure from words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flint import ctx


@pytest.fixture(autouse=True)
def precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 192
    yield
    ctx.prec = before
