"""The pictures of the docs can be made again, and stay small."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = 60_000  # bytes


@pytest.fixture(scope="module")
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "examples" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pictures_of_the_page_are_made_and_small(pictures, tmp_path):
    for file in pictures.draw_shown(tmp_path):
        assert file.stat().st_size < SMALL
        assert (ROOT / "docs" / file.name).stat().st_size < SMALL
    assert (ROOT / "docs" / "gallery.png").stat().st_size < 2 * SMALL
