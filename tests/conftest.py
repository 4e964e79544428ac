"""Hypothesis tries the same examples every time, and a busy machine is no failure. Compiled code is kept for one session.

Most tests compile a model to run it for an instant, so LLVM does not optimise for them. Folders that compare with independent
references and look at the code itself have it as users do. BELLCRANK_OPTIMISATION=3 makes it so for all.
"""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

for library in ("OPENBLAS", "MKL", "OMP"):  # before numpy is loaded: its threads would wait for those of the other worker
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

sys.dont_write_bytecode = False  # each worker and each subprocess would compile the whole package again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("steady", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("steady")

OPTIMISED = ("examples", "machine", "oracles", "peers")
COARSE = ("cli", "docs", "results")  # folders whose tests write pictures that no one looks at

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


@pytest.fixture(scope="module", autouse=True)
def optimisation(request):
    with pytest.MonkeyPatch.context() as patch:
        if "BELLCRANK_OPTIMISATION" not in os.environ:
            patch.setenv("BELLCRANK_OPTIMISATION", "3" if request.path.parent.name in OPTIMISED else "0")
        yield


@pytest.fixture(scope="module", autouse=True)
def coarse_pictures(request):
    """Files of such pictures have few pixels. Frames of an animation are no files: their size is that of the film."""
    if request.path.parent.name not in COARSE:
        yield
        return
    from matplotlib.figure import Figure

    save = Figure.savefig

    def coarsely(figure, file, **options):
        return save(figure, file, **(options | {"dpi": 20} if options.get("format") == "png" else options))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", coarsely)
        yield


def pytest_collection_finish():
    """What collection made stays to the end: no search for garbage among it."""
    gc.collect()
    gc.freeze()
