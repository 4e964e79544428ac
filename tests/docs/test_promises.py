"""docs/reliability.md names the test that holds each promise: every one of them is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_names_tests_that_are_there():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    tests = set(
        re.findall(r"^def (test_\w+)", "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("tests/**/test_*.py")), re.M)
    )
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named and set(named) <= tests, row
