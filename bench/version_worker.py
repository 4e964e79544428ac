"""One version of Bellcrank in a process of its own, commanded over pipes by bench/versions.py.

    python bench/version_worker.py                 lines of JSON in, lines of JSON out: prepare a row, then windows of it
    python bench/version_worker.py cold START      one line of JSON: seconds that a start in a new process takes

Only public names are used, so that older and newer sources both run. Times are of the processor, of all threads, so that other
work on the machine counts little. A window is a few dozen ms of chunks of some ms; the quickest chunk counts.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

BATCH = 256
CHUNK, WINDOW = 2e-3, 30e-3  # s

CHAINS = (2, 7, 24, 100)
LOOPS = (("N-four-bar", 1), ("N-four-bar", 20), ("N-four-bar", 100), ("ladder", 1), ("ladder", 20), ("ladder", 100))
LOOPS += (("spatial ladder", 1), ("spatial ladder", 20), ("spatial ladder", 100), ("lattice", 4), ("lattice", 8))
GALLERY = ("four_bar", "stewart", "strandbeest", "humanoid", "quarter_car")
RUNS = ("chain 7", "chain 24", "humanoid", "N-four-bar 20", "ladder 20", "spatial ladder 20", "lattice 4")


# mechanisms ----------------------------------------------------------------------------------------------------------


def trees() -> list[str]:
    return [*(f"chain {n}" for n in CHAINS), "humanoid"]


def loops() -> list[str]:
    return [f"{family} {N}" for family, N in LOOPS]


@cache
def mechanism(name: str) -> Any:
    """A model by its name in a row: generated, or of the gallery."""
    import bellcrank as bc
    from bellcrank.model import generators

    family, _, size = name.rpartition(" ")
    if family == "chain":
        return generators.chain(int(size))
    if family:
        from loop_states import FAMILIES

        return FAMILIES[family][0](int(size))
    return generators.humanoid() if name == "humanoid" else bc.load(name)


@cache
def states(name: str) -> Any:
    """q, v and tau of a batch of states."""
    import numpy as np

    from bellcrank.model import generators

    model = mechanism(name)
    family, _, size = name.rpartition(" ")
    if model.closures:
        from loop_states import FAMILIES

        return FAMILIES[family][1](model, int(size), BATCH)
    drawn = [generators.random_state(model, seed) for seed in range(BATCH)]
    tau = np.random.default_rng(1).uniform(-1, 1, (BATCH, model.nv))
    return np.array([q for q, _ in drawn]), np.array([v for _, v in drawn]), tau


@cache
def compiled(name: str, formulation: str = "auto") -> Any:
    import bellcrank as bc

    return bc.compile(mechanism(name), formulation)


# rows: a call to time, which gives numbers for comparison ------------------------------------------------------------


def one_state(name: str, formulation: str = "auto") -> Callable[[], Any]:
    q, v, tau = (x[0].copy() for x in states(name))
    return partial(compiled(name, formulation).acceleration, q, v, tau)


def lanes(name: str, formulation: str = "auto") -> Callable[[], Any]:
    return partial(compiled(name, formulation).acceleration, *states(name))


def momenta(name: str) -> Callable[[], Any]:
    q, v, tau = states(name)
    dynamics = compiled(name, "canonical_momenta")
    p = dynamics.momenta(q, v)
    return lambda: dynamics.canonical_rates(q, p, tau)[1]


def derivatives(name: str) -> Callable[[], Any]:
    q, v, tau = (x[0].copy() for x in states(name))
    return lambda: compiled(name).jacobians(q, v, tau).dq


def run(name: str) -> Callable[[], Any]:
    """By dopri5, with what simulate does before and after; closed loops for as long as they meet no singular position."""
    import bellcrank as bc

    model = mechanism(name)
    q, v, _ = (x[0] for x in states(name))
    return lambda: bc.simulate(model, 0.4 if model.closures else 1.0, step=0.01, q=q, v=v).values("q")[-1]


def many(name: str) -> Callable[[], Any]:
    import bellcrank as bc

    model = mechanism(name)
    q, v, _ = (x[:64] for x in states(name))
    return lambda: bc.simulate_many(model, 0.5, step=0.01, q=q, v=v).q[:, -1]


def load(name: str) -> Callable[[], Any]:
    import bellcrank as bc

    return lambda: bc.load(name).nv


def plan(name: str) -> Callable[[], Any]:
    """compile, with the code in memory."""
    import bellcrank as bc

    model = mechanism(name)
    return lambda: bc.compile(model).model.nv


def rows() -> dict[str, tuple[str, Callable[[], Callable[[], Any]]]]:
    """Group of each row, and what makes its call."""
    found: dict[str, tuple[str, Callable[[], Callable[[], Any]]]] = {}
    for name in [*trees(), *loops()]:
        found[f"{name}, one state"] = "evaluations", partial(one_state, name)
        found[f"{name}, lanes"] = "evaluations", partial(lanes, name)
    for name in ("N-four-bar 20", "ladder 20", "spatial ladder 20", "lattice 4"):
        found[f"{name}, multipliers, one state"] = "evaluations", partial(one_state, name, "multipliers")
        found[f"{name}, multipliers, lanes"] = "evaluations", partial(lanes, name, "multipliers")
    for name in ("chain 7", "chain 24", "ladder 20"):
        found[f"{name}, momenta, lanes"] = "evaluations", partial(momenta, name)
    for name in ("chain 7", "chain 24", "ladder 1", "ladder 20"):
        found[f"{name}, jacobians"] = "evaluations", partial(derivatives, name)
    found |= {f"{name}, run": ("runs", partial(run, name)) for name in RUNS}
    found |= {f"{name}, 64 runs": ("runs", partial(many, name)) for name in ("chain 7", "humanoid", "ladder 20", "lattice 4")}
    found |= {f"load {name}": ("planning", partial(load, name)) for name in GALLERY}
    return found | {f"{name}, plan": ("planning", partial(plan, name)) for name in (*trees(), *loops(), "strandbeest")}


# the worker ----------------------------------------------------------------------------------------------------------


class Row:
    """A row that is being timed."""

    def __init__(self, name: str):
        import numpy as np

        self.call = rows()[name][1]()
        self.numbers = [float(x) for x in np.ravel(np.asarray(self.call(), dtype=float))[:1000]]
        shortest = min(self._seconds(1) for _ in range(3))
        self.repeat = max(1, int(CHUNK / max(shortest, 1e-7)))
        self.chunks = max(1, int(WINDOW / max(CHUNK, shortest)))

    def _seconds(self, repeat: int) -> float:
        call, many = self.call, range(repeat)
        began = time.process_time()
        for _ in many:
            call()
        return (time.process_time() - began) / repeat

    def window(self) -> float:
        """s of a call: the quickest chunk."""
        gc.disable()
        times = [self._seconds(self.repeat) for _ in range(self.chunks)]
        gc.enable()
        return min(times)


def serve() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    row: Row | None = None
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if "prepare" in command:
                row = Row(command["prepare"])
                answer: dict[str, Any] = {"numbers": row.numbers}
            else:
                assert row is not None
                answer = {"seconds": row.window()}
        except Exception as problem:  # the parent says which row this version does not have
            answer = {"problem": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), file=answers, flush=True)


def cold(start: str) -> dict[str, float]:
    """Seconds of processor time until a start is done: "import", "compile NAME" or "run NAME"."""
    began = time.process_time()
    import bellcrank as bc

    what, _, name = start.partition(" ")
    if what == "import":
        assert callable(bc.load) and callable(bc.simulate)  # imported when first asked for
        return {"seconds": time.process_time() - began}
    bc.compile(bc.load("pendulum")).acceleration([0.0], [0.0])  # LLVM is there, modules are imported
    model = mechanism(name)
    if what == "run":
        q, v, _ = (x[0] for x in states(name))
        bc.simulate(bc.load("pendulum"), 0.01)
    began = time.process_time()
    if what == "run":
        bc.simulate(model, 0.01, q=q, v=v)
    else:
        bc.compile(model)
    return {"seconds": time.process_time() - began}


COLD = ("import", *(f"compile {name}" for name in ("chain 7", "chain 24", "chain 100", "humanoid", "strandbeest", "stewart")))
COLD += tuple(
    f"compile {name}" for name in ("N-four-bar 20", "ladder 20", "spatial ladder 1", "spatial ladder 20", "lattice 8")
)
COLD += ("run chain 7", "run humanoid", "run ladder 20")

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["cold"]:
        print(json.dumps(cold(sys.argv[2])))
    else:
        serve()
