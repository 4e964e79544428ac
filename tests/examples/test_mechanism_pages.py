"""The curves of the gallery's pages can be drawn, and every page shows its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import matplotlib

ROOT = Path(__file__).parents[2]


def test_every_page_has_its_curves(tmp_path):
    matplotlib.use("Agg")
    spec = importlib.util.spec_from_file_location("mechanisms", ROOT / "examples" / "mechanisms.py")
    assert spec is not None and spec.loader is not None
    mechanisms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mechanisms)
    written = mechanisms.write(tmp_path, short=True)
    assert [path.name for path in written] == [f"{name}.png" for name in mechanisms.PAGES]
    for path in written:
        assert path.stat().st_size > 1000 and (ROOT / "docs" / "curves" / path.name).exists()
        assert f"curves/{path.name}" in (ROOT / "docs" / "gallery" / f"{path.stem}.md").read_text(encoding="utf-8")
