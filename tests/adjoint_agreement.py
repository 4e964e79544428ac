"""The adjoint beside forward derivatives on the same accepted steps, for every model of the gallery: largest difference.

    python -m tests.adjoint_agreement [--methods dopri5 radau ...] [--only WORD ...] [--parameters 24] [--seconds 0.3]

For each model and method: the accepted steps, and for each output the largest difference between the two gradients, each entry
times its parameter, as a part of the largest one. Methods that adapt their steps are compared with a replay of the adjoint's
own steps (tests/replayed.py), those of fixed step with bc.sensitivity(mode="forward"). Parameters are drawn from all that may
change, with a fixed seed. A dash: the output does not depend on these parameters (either way).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.io.shipped import gallery

from .replayed import gradients

ADAPTIVE, FIXED = ("dopri5", "dop853", "radau", "auto"), ("rk4", "implicit_midpoint", "midpoint4", "gauss4")
NOTHING = 1e-13  # of an output


def drawn(model: bc.Model, count: int) -> list[str]:
    """Parameters that may be differentiated by; axes of closed loops, whose change opens them, are left out."""
    names = [name for name in model.parameters if name not in ("duration", "step")]
    names = [name for name in names if not model.closures or (".axis." not in name and ".normal." not in name)]
    order, found = np.random.default_rng(17).permutation(len(names)), list[str]()
    for k in order:
        try:
            bc.Design(model, [*found, names[k]])
        except BellcrankError:
            continue
        found.append(names[k])
        if len(found) == count:
            break
    return found


def outputs_of(model: bc.Model) -> list[str]:
    """Taken in several ways, of the whole and of both ends of the mechanism."""
    return ["energy.kinetic@end", "rms(energy.total)", f"mean({model.q_names[-1]})", f"max({model.q_names[0]})"]


def both(model: bc.Model, method: str, names: list[str], seconds: float) -> tuple[dict, dict, int]:
    outputs, step = outputs_of(model), seconds / 10
    if method in ADAPTIVE:
        return gradients(model, names, outputs, seconds, step=step, method=method)
    options = {"step": step, "method": method, "max_step": seconds / 100}
    adjoint, forward = (bc.sensitivity(model, names, outputs, seconds, mode=mode, **options) for mode in ("adjoint", "forward"))
    found = ({x: result.d(x).values for x in outputs} for result in (adjoint, forward))
    return (*found, adjoint.settings["steps"])


def differences(model: bc.Model, method: str, names: list[str], seconds: float) -> tuple[int, dict[str, float | None]]:
    """By output; None where it does not depend on the parameters."""
    adjoint, forward, steps = both(model, method, names, seconds)
    sizes = np.array([abs(bc.Design(model, [name]).start[0]) or 1.0 for name in names])
    found: dict[str, float | None] = {}
    for output, exact in forward.items():
        exact, other = exact * sizes, adjoint[output] * sizes
        largest = np.abs(exact).max()
        found[output] = None if max(largest, np.abs(other).max()) < NOTHING else float(np.abs(other - exact).max() / largest)
    return steps, found


def rows(words: list[str], methods: list[str], count: int, seconds: float) -> Iterator[str]:
    for name in gallery():
        if not any(word in name for word in words):
            continue
        model = bc.load(name)
        names = drawn(model, count)
        for method in methods:
            try:
                steps, found = differences(model, method, names, seconds)
                text = f"{steps:6}  " + "  ".join("   -   " if x is None else f"{x:.1e}" for x in found.values())
            except BellcrankError as why:
                text = str(why).splitlines()[0][:150]
            yield f"{name:27} {method:18} {text}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", nargs="*", default=["dopri5"], choices=[*ADAPTIVE, *FIXED])
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--parameters", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=0.3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for row in rows(given.only, given.methods, given.parameters, given.seconds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
