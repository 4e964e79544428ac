"""The documentation as a site: every link and every page of the menu is there, and what the code generates is in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.cli import COMMANDS

pytest.importorskip("material", reason="the site needs mkdocs-material, which comes with bellcrank[docs]")
ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_the_site_is_built_without_a_warning(site):
    assert (site / "index.html").exists()


def test_the_reference_has_every_public_name_command_table_and_error(site):
    api = (site / "reference" / "api.html").read_text(encoding="utf-8")
    headings = set(re.findall(r'<h3 id="bellcrank\.[\w.]*?(\w+)"', api))
    errors = {
        name
        for name in bc.__all__
        if isinstance(getattr(bc, name), type) and issubclass(getattr(bc, name), (Exception, Warning))
    }
    assert set(bc.__all__) - errors - {"__version__"} <= headings
    listed = (site / "reference" / "errors.html").read_text(encoding="utf-8")
    assert [name for name in errors if f"<code>{name}</code>" not in listed] == []
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f'<h2 id="{name}"' not in commands] == []
    tables = (site / "reference" / "model-file.html").read_text(encoding="utf-8")
    bodies = tables[tables.index('id="bodies"') : tables.index('id="joints"')]
    assert all(
        f"<code>{field}</code>" in bodies for field in bc.schema()["properties"]["bodies"]["additionalProperties"]["properties"]
    )
    assert [
        name for name in bc.schema()["properties"] if f'id="{name}"' not in tables and f"<code>{name}</code>" not in tables
    ] == []


def test_every_model_of_the_gallery_has_a_section_and_shows_its_picture(site):
    page = (site / "gallery.html").read_text(encoding="utf-8")
    assert [name for name in bc.gallery() if f'<h2 id="{name}"' not in page] == []
    drawn = {path.stem for path in (ROOT / "docs" / "gallery").iterdir()}
    assert len(drawn) > 20 and [name for name in drawn if f'src="gallery/{name}.' not in page] == []


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_the_search_of_a_site_that_is_opened_from_a_folder_finds_a_page(site):
    browsers = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with browsers.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto((site / "index.html").as_uri())
        words = tab.locator("input.md-search__input")
        words.focus(timeout=60_000)  # opens the search, which loads the index
        words.press_sequentially("torsion spring")
        found = tab.locator("a.md-search-result__link", has_text="springs")
        found.first.wait_for(state="attached", timeout=60_000)
        assert "springs.html" in str(found.first.get_attribute("href"))
        browser.close()


def test_no_page_fetches_anything_from_the_web(site):
    """Fonts, scripts and styles come with the site: it can be read offline."""
    for page in site.rglob("*.html"):
        fetched = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="?(https?:[^"> ]+)', page.read_text(encoding="utf-8"))
        assert fetched == [], page.name


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name in menu or name.startswith("papers/"), f"{name} is not in mkdocs.yml"
