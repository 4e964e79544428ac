"""A new design: from parameters to the arrays of a plan, and to a model.   python bench/design.py [--json FILE]

Of each model all parameters are in the design. Columns: numbers of the arrays that depend on them; microseconds, called from
Python, of the arrays of one design, of these with the loops of its start closed, of one of 256 designs at a time, and of the
derivatives, per parameter; milliseconds of with_parameters, built anew (as the first time) and from the recording, for all
parameters and for one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from part import show

import bellcrank as bc
from bellcrank.model import build
from bellcrank.model.parameters.parameters import changed

MODELS = ("double_pendulum", "four_bar", "quarter_car", "excavator", "humanoid")


def best(work: Callable[[], Any], seconds: float = 0.3) -> float:
    """The shortest time of one call, s."""
    work()
    start = time.perf_counter()
    work()
    calls = max(1, int(5e-4 / max(time.perf_counter() - start, 1e-7)))
    found, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            work()
        found = min(found, (time.perf_counter() - start) / calls)
    return float(found)


def row(name: str) -> dict[str, Any]:
    model = bc.load(name)
    design = bc.Design(model, list(model.parameters))
    p, many = np.array(design.start), np.tile(design.start, (256, 1))
    count, changes = len(p), dict(model.parameters)
    one = next(x for x in design.names if x.startswith("parameters.") or x.endswith(".mass"))
    remade = [lambda: model.with_parameters(changes), lambda: model.with_parameters({one: model.parameters[one]})]
    for again in remade * 2:
        again()
    assert model.spec is not None
    arrays = design.arrays(p)
    return {
        "model": name,
        "parameters": count,
        "numbers": sum(array.size for array in arrays.values()),
        "arrays, us": 1e6 * best(lambda: design.arrays(p)),
        "with assembly, us": 1e6 * best(lambda: design.assembled(p)),
        "of 256, us": 1e6 * best(lambda: design.arrays(many)) / len(many),
        "derivative, us": 1e6 * best(lambda: design.tangents(p)) / count,
        "built, ms": 1e3 * best(lambda: build(changed(model.spec, changes))),
        "all changed, ms": 1e3 * best(remade[0]),
        "one changed, ms": 1e3 * best(remade[1]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [row(name) for name in MODELS]
    show("a new design", rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
