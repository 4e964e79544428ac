"""The adjoint beside forward derivatives on the same accepted steps, for every model of the gallery: largest difference.

    python -m tests.adjoint_agreement [--methods dopri5 radau ...] [--only WORD ...] [--parameters 24] [--seconds 0.3]
                                      [--formulation canonical_momenta] [--elements] [--complex]

With --elements instead of the gallery the models that have every joint, every force element and everything that closes a loop
(tests/studies/test_complex_steps.py). With --complex, of models whose coordinates change as their velocities: the adjoint by rk4
beside a complex step through the same run, along one direction of all parameters.

For each model and method: the accepted steps, and for each output the largest difference between the two gradients, each entry
times its parameter, as a part of the largest one. Methods that adapt their steps are compared with a replay of the adjoint's
own steps (tests/replayed.py), those of fixed step, and all in momenta or with inputs, with bc.sensitivity(mode="forward"), in steps
that are too short for a control of errors. Parameters are drawn from all that may
change, with a fixed seed. A dash: the output does not depend on these parameters (either way).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.io.shipped import gallery

from .replayed import gradients
from .studies.complex_chain import STEP, Chain
from .studies.test_complex_steps import CASES, case, run_by_rk4

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


def both(model: bc.Model, method: str, names: list[str], seconds: float, **more: Any) -> tuple[dict, dict, int]:
    outputs, step = outputs_of(model), seconds / 10
    if method in ADAPTIVE and not more:
        return gradients(model, names, outputs, seconds, step=step, method=method)
    options = {"step": step, "method": method, "max_step": seconds / 100, **more}
    adjoint, forward = (bc.sensitivity(model, names, outputs, seconds, mode=mode, **options) for mode in ("adjoint", "forward"))
    found = ({x: result.d(x).values for x in outputs} for result in (adjoint, forward))
    return (*found, adjoint.settings["steps"])


def differences(
    model: bc.Model, method: str, names: list[str], seconds: float, **more: Any
) -> tuple[int, dict[str, float | None]]:
    """By output; None where it does not depend on the parameters."""
    adjoint, forward, steps = both(model, method, names, seconds, **more)
    sizes = np.array([abs(bc.Design(model, [name]).start[0]) or 1.0 for name in names])
    found: dict[str, float | None] = {}
    for output, exact in forward.items():
        exact, other = exact * sizes, adjoint[output] * sizes
        largest = np.abs(exact).max()
        found[output] = None if max(largest, np.abs(other).max()) < NOTHING else float(np.abs(other - exact).max() / largest)
    return steps, found


def beside_a_complex_run(model: bc.Model, names: list[str], seconds: float) -> float:
    """Of the change of all coordinates at the end, the largest difference; by rk4 without a way back onto the closures."""
    h, outputs = seconds / 10, [f"{name}.q@end" if model.nq == model.n else f"{name}@end" for name in model.q_names]
    options = {"step": seconds, "max_step": h, "method": "rk4", "projection": "none"}
    found = bc.sensitivity(model, names, outputs, seconds, mode="adjoint", **options)
    dyn = bc.compile(model, design=bc.Design(model, names), optimisation=0)
    along = dyn.planned.design.tangents(dyn.planned.design.start, dyn.plan)
    dp = np.where(np.isin(names, [x for x in names if not x.startswith("initial")]), 0.1 + np.abs(found.at), 0.0)
    assert not any((along[x] @ dp).any() for x in ("given_q", "given_v") if x in along), "the start must stay"
    chain = Chain(dyn, model.initial_q, model.initial_v)
    q = run_by_rk4(chain, chain.data(dyn.plan, dp), h, found.settings["steps"])
    exact = q.imag / STEP
    return float(np.abs([found.d(x).values @ dp for x in outputs] - exact).max() / np.abs(exact).max())


def models(words: list[str], elements: bool) -> Iterator[tuple[str, bc.Model, dict[str, Any]]]:
    for name in CASES if elements else gallery():
        if any(word in name for word in words):
            model, inputs = case(name) if elements else (bc.load(name), ())
            yield name, model, {"inputs": inputs} if inputs else {}


def rows(given: argparse.Namespace) -> Iterator[str]:
    momenta = {} if given.formulation == "auto" else {"formulation": given.formulation}
    for name, model, inputs in models(given.only, given.elements):
        names = drawn(model, given.parameters)
        if given.complex:
            own = [x for x in names if not x.startswith("initial")]
            yield f"{name:27} {beside_a_complex_run(model, own, given.seconds):.1e}"
            continue
        for method in given.methods:
            try:
                steps, found = differences(model, method, names, given.seconds, **momenta, **inputs)
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
    parser.add_argument("--formulation", default="auto")
    parser.add_argument("--elements", action="store_true")
    parser.add_argument("--complex", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for row in rows(given):
        print(row, flush=True)


if __name__ == "__main__":
    main()
