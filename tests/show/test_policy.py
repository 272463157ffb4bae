"""Pages that are kept run no script and fetch nothing, whatever is in them."""

from __future__ import annotations

from typing import Any

import pytest

import epsilens as el
from epsilens.show.charts.chart import POLICY, meta

_CHART: Any = el.laplace(epsilon=1.0).chart("roc")


@pytest.mark.parametrize("page", [el.laplace(epsilon=1.0).to_html(), _CHART.html()])
def test_a_page_to_keep_carries_its_policy(page: str) -> None:
    head = page[: page.index("<style>")]
    assert meta() in head
    assert "&#39;none&#39;" not in head  # not escaped, or no browser would read it
    assert "<script" not in page
    assert "default-src 'none'" in POLICY
    assert "script-src" not in POLICY  # what is not named falls back to none
