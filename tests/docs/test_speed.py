"""The pages that tell how fast it is say what the file of results says that they were made from."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("page", BENCH / "page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_those_of_the_results(page):
    """`python bench/page.py` would change nothing."""
    results = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    for path in page.PAGES:
        text = path.read_text(encoding="utf-8")
        assert page.MARKED.search(text)
        assert page.written(text, results) == text, f"run python bench/page.py: {path.name} is not that of results.json"


def test_another_figure_is_another_page(page):
    results = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    row = next(part for part in results["parts"] if part["name"] == "sweeps")["rows"][0]
    row["ratio"] = 123.0
    text = page.PAGES[0].read_text(encoding="utf-8")
    assert "**123**" in page.written(text, results) and "**123**" not in text


def test_results_know_where_they_were_measured(page):
    """Processor, versions, and which peers were missing."""
    results = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    assert results["machine"]["processor"] and results["machine"]["lanes"] in (4, 8)
    assert {"numpy", "llvmlite"} <= set(results["versions"]) and isinstance(results["missing"], list)
    assert {part["name"] for part in results["parts"]} >= {"trees", "loops", "sensitivities", "sweeps", "roofline"}
