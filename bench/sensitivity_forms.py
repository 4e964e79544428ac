"""The forms of sensitivity analysis, counted and timed: the crossover of Anderson & Hsu's figure 2.

    python bench/sensitivity_forms.py [--sizes 2 3 4 6 8] [--parameters 1 8]

counted    additions and multiplications of accelerations and their total derivatives, chains of n pins
numpy      the same forms in plain numpy, ms; the shortest of several windows, the forms taken in turns
compiled   Bellcrank's own: the recursion on dual numbers in machine code, us, of one state
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from bellcrank.model.generators import chain
from bellcrank.papers.sensitivities.chain import chain_of
from bellcrank.papers.sensitivities.counted import FORMS, crossover, operations


def timed(n: int, parameters: int, rounds: int = 5) -> dict[str, float]:
    """Seconds of one evaluation of each form."""
    rng, bodies = np.random.default_rng(0), chain_of(chain(n))
    slopes = [{"mass": rng.normal(size=n), "center": rng.normal(size=(n, 3))} for _ in range(parameters)]
    q, v = rng.normal(size=(2, n))
    dq, dv = rng.normal(size=(2, n, parameters))
    best = dict.fromkeys(FORMS, np.inf)
    for _ in range(rounds):
        for name, form in FORMS.items():
            began = time.perf_counter()
            form(bodies, slopes, q, v, dq, dv)
            best[name] = min(best[name], time.perf_counter() - began)
    return best


def compiled(n: int, parameters: int) -> float:
    import sensitivity

    model: Any = chain(n)
    return sensitivity.of_tangents(sensitivity.varied(model), sensitivity.states(model), ("q", "v"), parameters)


def report(sizes: list[int], parameters: int) -> None:
    print(f"p = {parameters}:  n, for each form operations and numpy ms; compiled us", flush=True)
    counts: dict[str, list[int]] = {name: [] for name in FORMS}
    times: dict[str, list[float]] = {name: [] for name in FORMS}
    for n in sizes:
        cells, found = [], timed(n, parameters)
        for name in FORMS:
            counts[name].append(operations(name, n, parameters))
            times[name].append(found[name])
            cells.append(f"{name} {counts[name][-1]}, {1e3 * found[name]:.2f} ms")
        print(f"  {n:2d}  " + "   ".join(cells) + f"   compiled {1e6 * compiled(n, parameters):.2f} us", flush=True)
    for name in list(FORMS)[:-1]:
        for what, table in (("operations", counts), ("numpy", times)):
            at = crossover(table[name], table["fully recursive"], sizes)
            always = table[name][0] > table["fully recursive"][0]
            said = f"from n = {at:.1f}" if at is not None else "at all these n" if always else "at none of these n"
            print(f"    {what}: the fully recursive form takes less than the {name} one {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 4, 6, 8])
    parser.add_argument("--parameters", type=int, nargs="+", default=[1, 8])
    asked = parser.parse_args()
    for parameters in asked.parameters:
        report(asked.sizes, parameters)


if __name__ == "__main__":
    main()
