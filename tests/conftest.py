"""Hypothesis tries the same examples every time, and a busy machine is no failure. Compiled code is kept for one session."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("steady")

ROOT = str(Path(__file__).parent.parent)  # helpers are imported as tests.<folder>.<file>
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


@pytest.fixture(scope="session", autouse=True)
def folder_of_compiled_code(tmp_path_factory):
    """The user's own cache is left alone; the workers of pytest-xdist share one, and so do subprocesses."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELLCRANK_CACHE", str(folder))
        yield folder
