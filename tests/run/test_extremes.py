"""Damaged models, and numbers that arithmetic does not take: results, or errors of ours by name; none takes for ever."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import DynamicsError
from bellcrank.extremes import in_our_errors

NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?(?![\w.])")
NUMBERS = ["0", "-1", "1e30", "1e-30", "-1e30", "1e300", "1e150", "1e-300", "-1e-12", "1e8", "1e-8", "1e16", "5e-324"]
TOKENS = ['"ground"', "[0, 0, 0]", "true", "{}", '"=p/0"', '"x"', "[]", '""']
SMALL = ("pendulum", "double_pendulum", "four_bar", "heavy_top", "parallelogram", "slider_crank", "quarter_car", "five_bar")
FILES = 32

CHILD = """
import json, sys, traceback, warnings
import bellcrank as bc
warnings.simplefilter("ignore")
WAYS = {
    "assemble": bc.assemble, "check": lambda m: bc.check(m).as_dict(), "equilibrium": lambda m: bc.equilibrium(m, max_iterations=30),
    "modes": lambda m: bc.modes(m, "start"), "simulate": lambda m: bc.simulate(m, 0.05, step=0.01).summary().as_dict(),
}
for line in sys.stdin:
    defects = []
    try:
        model = bc.load(json.loads(line))
        for name, way in WAYS.items():
            try:
                way(model)
            except bc.BellcrankError:
                pass
            except Exception:
                defects.append(name + ": " + traceback.format_exc())
    except bc.BellcrankError:
        pass
    except Exception:
        defects.append("load: " + traceback.format_exc())
    print(json.dumps(defects), flush=True)
"""


def damaged(seed):
    """A model of the gallery with one to three numbers changed, or replaced by something else."""
    rng = random.Random(seed)
    text = bc.gallery()[rng.choice(SMALL)].read_text(encoding="utf-8")
    for _ in range(rng.choice([1, 1, 2, 3])):
        place = rng.choice(list(NUMBER.finditer(text))[1:])
        text = text[: place.start()] + rng.choice(NUMBERS if rng.random() < 0.85 else TOKENS) + text[place.end() :]
    return text


def test_damaged_models_give_results_or_errors_of_ours():
    """The short form; with other seeds, as many as there is time for."""
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        for seed in range(FILES):
            child.stdin.write(json.dumps(damaged(seed)) + "\n")
            child.stdin.flush()
            answer = child.stdout.readline()
            assert answer, f"the process died of model {seed}"
            assert json.loads(answer) == [], seed
        child.stdin.close()


BREAKDOWNS = [
    np.linalg.LinAlgError("Singular matrix"),
    OverflowError("too large"),
    RecursionError("depth"),
    MemoryError("9 GB"),
]


@pytest.mark.parametrize("error", BREAKDOWNS, ids=lambda error: type(error).__name__)
def test_what_breaks_down_is_an_error_of_ours_with_its_cause(error):
    def breaks(*_, **__):
        raise error

    breaks.__code__ = breaks.__code__.replace(co_filename=bc.__file__)  # as if it were in the package
    with pytest.raises(DynamicsError, match=r"breaks: (the model|it takes more memory)") as caught:
        in_our_errors(DynamicsError)(breaks)()
    assert caught.value.__cause__ is error


def test_what_a_function_of_the_user_raises_stays_what_it_is():
    def controller(t, q, v):
        return 1 / 0

    model = bc.load("double_pendulum")
    with pytest.warns(bc.BellcrankWarning, match="slower"), pytest.raises(ZeroDivisionError):
        bc.simulate(model, 0.1, step=0.05, tau=controller)


def test_other_errors_pass():
    def wrong():
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        in_our_errors(DynamicsError)(wrong)()
