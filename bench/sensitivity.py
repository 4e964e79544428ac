"""Costs of exact derivatives by a design, and by the state, in machine code; one state at a time, one thread.

    python bench/sensitivity.py [--parameters 1 4 8 32] [--only WORD ...]
    python bench/sensitivity.py --forms        the forms of Anderson & Hsu's figure 2, counted and timed (sensitivity_forms.py)

value      one evaluation of the acceleration, us
partial    with its derivatives by so many parameters at the same q and v: us, and of one parameter as a part of the value
total      with dq and dv given too
jacobians  d(acceleration) by q, v and tau, us; beside it Pinocchio's computeABADerivatives, for trees, if it is installed

Times are the shortest of many short rounds.
Parameters change masses, first moments and inertias of all bodies, where these are not zero, and the joints' offsets.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from part import Part, Row, written

import bellcrank as bc
from bellcrank.dynamics.derivatives.jacobians import FEW
from bellcrank.dynamics.differentiation import tangent_kernel
from bellcrank.dynamics.evaluation import Evaluation
from bellcrank.dynamics.node_ranks import plan_generic_nodes
from bellcrank.dynamics.planning import planned
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.tangents.data import chunk_of, design_tangents, from_chunks, in_chunks
from bellcrank.machine.tangents.sweep import TangentKernel, Words
from bellcrank.model.generators import chain, ladder, random_state
from bellcrank.plan import make_plan
from bellcrank.plan.signature import SLOTS

STATES, ROUNDS = 8, 200  # few states in a round: what a time loop has at hand is in the cache, and a round is soon over
REPEATED = 8  # of the value alone, whose round is shorter: the call from Python is spread over more
CHANGED = ("offset", "J", "mc", "m", "center", "Jc", "carried_m", "carried_mc")
MODELS: dict[str, Callable[[], Any]] = {f"chain {n}": (lambda n=n: chain(n)) for n in (2, 4, 8, 12, 24)}  # type: ignore[misc]
MODELS |= {name: (lambda name=name: bc.load(name)) for name in ("humanoid", "four_bar", "quarter_car")}  # type: ignore[misc]
MODELS |= {f"ladder {n}": (lambda n=n: ladder(n)) for n in (10, 100)}  # type: ignore[misc]


def best(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Seconds; the shortest of many short rounds, since other work may run beside."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def varied(model: Any) -> Evaluation:
    base = planned(model)
    mask = np.zeros(base.plan.data.shape, dtype=bool)
    mask[:, [k for name in CHANGED for k in SLOTS[name]]] = True
    plan = make_plan(model, tolerance=base.plan.tolerance, masks={"data": mask & (base.plan.data != 0)})
    settled = replace(base, plan=plan)
    if base.plan.nodes is not None:
        settled = replace(settled, plan=replace(plan, nodes=plan_generic_nodes(plan, Evaluation(settled))))
    return Evaluation(settled)


def states(model: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    q = np.tile(model.initial_q if model.closures else random_state(model)[0], (STATES, 1))
    rows = {"q": q, "v": rng.normal(size=(STATES, model.nv)), "tau": np.zeros((STATES, model.nv))}
    return rows | {"t": np.zeros((STATES, 1)), "u": np.zeros((STATES, model.input_width))}


def of_value(model: Any, rows: dict[str, Any]) -> float:
    evaluation = Evaluation(planned(model))
    kernel = evaluation.kernel(evaluation.program, 1)
    given = {name: rows[name] for name in kernel.program.inputs}
    repeated = {name: np.repeat(x, REPEATED, axis=0) for name, x in given.items()}
    return best(lambda: kernel.batch(repeated, threads=1)) / len(repeated["q"])


def of_tangents(dyn: Evaluation, rows: dict[str, Any], along: tuple[str, ...], count: int) -> float:
    rng = np.random.default_rng(0)
    kernel: TangentKernel = tangent_kernel(dyn, dyn.program, along, chunk_of(count))
    given = {name: x for name, x in rows.items() if name in kernel.program.inputs}
    given |= {f"d_{name}": in_chunks(rng.normal(size=(STATES, rows[name].shape[1], count))) for name in along}
    data = design_tangents(dyn.plan, {"data": rng.normal(size=(*dyn.plan.data.shape, count))}, count)
    given |= {name: x for name, x in data.items() if name in kernel.code.arguments}
    chunks = max(1, -(-count // chunk_of(count)))
    out = {
        name: np.empty((STATES, chunks, kernel.widths[name], 1 + kernel.program.tangents)) for name in kernel.program.outputs
    }
    words = Words(kernel, given, out, chunks)
    return best(lambda: kernel.sweep(words, 0, STATES)) / STATES


def of_jacobians(model: Any, rows: dict[str, Any]) -> float:
    """As Dynamics.jacobians finds them: of large trees by inverse dynamics and the inverse mass matrix, else all at once."""
    dyn, n = Evaluation(planned(model)), model.nv
    rows = rows | {"a": np.random.default_rng(1).normal(size=(STATES, n))}
    if model.closures or n <= FEW:
        return best(along_units(dyn, dyn.program, rows, ("q", "v", "tau"))[0], 40) / STATES
    inverse, by_tau = along_units(dyn, dyn.program, rows, ("tau",))
    efforts, by_state = along_units(dyn, QUANTITIES["inverse_dynamics"], rows, ("q", "v"))
    found = np.empty((STATES, n, 2 * n))

    def all_parts() -> None:
        inverse()
        efforts()
        M, D = (from_chunks(x, count)[1] for x, count in ((by_tau["a"], n), (by_state["tau"], 2 * n)))
        np.matmul(-M, D, out=found)

    return best(all_parts) / STATES


def along_units(
    dyn: Evaluation, program: Any, rows: dict[str, Any], along: tuple[str, ...]
) -> tuple[Callable[[], None], dict[str, Any]]:
    """A program along unit directions of some inputs: a call for all states, and what it fills."""
    n, count = dyn.model.nv, len(along) * dyn.model.nv
    kernel = tangent_kernel(dyn, program, along, chunk_of(count), of_design=False)
    given = {name: x for name, x in rows.items() if name in kernel.program.inputs}
    for k, name in enumerate(along):
        seed = np.zeros((1, rows[name].shape[1], count))
        seed[0, :n, k * n : (k + 1) * n] = np.eye(n)
        given[f"d_{name}"] = in_chunks(seed)
    chunks = -(-count // chunk_of(count))
    out = {
        name: np.empty((STATES, chunks, kernel.widths[name], 1 + kernel.program.tangents)) for name in kernel.program.outputs
    }
    words = Words(kernel, given, out, chunks)
    return lambda: kernel.sweep(words, 0, STATES), out


def of_pinocchio(model: Any) -> float | None:
    try:
        import peers
        import pinocchio as pin
    except ImportError:
        return None
    other = peers.to_pinocchio(model)
    data, q = other.createData(), pin.neutral(other)
    v = tau = np.zeros(other.nv)

    def many() -> None:
        for _ in range(STATES):
            pin.computeABADerivatives(other, data, q, v, tau)

    return best(many) / STATES


QUICK = ("chain 8", "humanoid", "four_bar")


def part(quick: bool) -> Part:
    """Derivatives by 8 parameters beside one-sided differences, and Jacobians beside Pinocchio's."""
    rows, table = [], []
    for name in QUICK if quick else tuple(MODELS):
        model = MODELS[name]()
        at = states(model)
        apart, dyn = difference_errors(model, at), varied(model)
        value, jacobians = of_value(model, at), of_jacobians(model, at)
        partial, total = (of_tangents(dyn, at, along, 8) for along in ((), ("q", "v")))
        for (what, error), taken in zip(apart.items(), (partial, total), strict=True):
            title = f"derivatives by 8 parameters {what}, {name}"
            rows.append(Row(title, 8 * value / taken, 1e6 * taken, "8 evaluations more", 8e6 * value, "us", error))
        line = {"model": name, "value": 1e6 * value, "partial of one": partial / value / 8, "total of one": total / value / 8}
        other = None if model.closures else of_pinocchio(model)
        if other is not None:
            title = f"Jacobians by q, v and tau, {name}"
            error = jacobian_error(model)
            rows.append(Row(title, other / jacobians, 1e6 * jacobians, "computeABADerivatives", 1e6 * other, "us", error))
        table.append(line | {"jacobians": 1e6 * jacobians, "Pinocchio": "" if other is None else 1e6 * other})
    return Part("sensitivities", rows, {"Derivatives, us; of one parameter as a part of the value": table})


def difference_errors(model: Any, at: dict[str, Any], h: float = 1e-4) -> dict[str, float]:
    """By how much derivatives by up to eight masses, or parameters of the file, differ from central differences of order four.

    In parts of the largest one. Ladders, made from arrays, have no parameters by name: theirs are by the state.
    """
    if model.closures and model.written is None:
        return dict.fromkeys(("at a state", "along a motion"), state_error(model, at["q"][0], at["v"][0], h))
    model = written(model)
    heavy = [f"{name}.mass" for name, m in zip(model.body_names, model.mass, strict=True) if m > 0]
    masses = [path for path in heavy if path in model.parameters]
    design = bc.Design(model, (masses or [path for path in model.parameters if path.startswith("parameters.")])[:8])
    dyn, q, v, p = bc.compile(model, design=design), at["q"][0], at["v"][0], np.array(design.start)
    rng, found = np.random.default_rng(2), {}
    for what, size in (("at a state", 0.0), ("along a motion", 1.0)):
        dq = size * rng.normal(size=(model.nq, len(p))) * (model.nq == model.nv)  # quaternions stay as they are
        dv = size * rng.normal(size=(model.nv, len(p)))
        exact = dyn.sensitivity(q, v, dq=dq, dv=dv).da

        def moved(k: int, by: float, dq: Any = dq, dv: Any = dv) -> Any:
            return dyn.acceleration(q + by * dq[:, k], v + by * dv[:, k], p=p + by * np.eye(len(p))[k])

        near = np.stack([difference(partial(moved, k), h) for k in range(len(p))], axis=1)
        found[what] = float(np.abs(near - exact).max() / np.abs(exact).max())
    return found


def difference(f: Callable[[float], Any], h: float) -> Any:
    """Its derivative at 0."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def state_error(model: Any, q: Any, v: Any, h: float) -> float:
    """The same of the Jacobians by q and v, along a random change."""
    dyn, (dq, dv) = bc.compile(model), np.random.default_rng(2).normal(size=(2, model.nv))
    found = dyn.jacobians(q, v)
    exact = found.dq @ dq + found.dv @ dv
    near = difference(lambda by: dyn.acceleration(q + by * dq, v + by * dv), h)
    return float(np.abs(near - exact).max() / np.abs(exact).max())


def jacobian_error(model: Any) -> float:
    """The largest difference of the derivatives by tau, of the largest entry, at rest."""
    import peers
    import pinocchio as pin

    other = peers.to_pinocchio(model)
    data, q = other.createData(), pin.neutral(other)
    pin.computeABADerivatives(other, data, q, np.zeros(other.nv), np.zeros(other.nv))
    order = peers.pinocchio_order(model, other)
    ours = bc.compile(model).jacobians(model.neutral_q, np.zeros(model.nv)).dtau
    theirs = np.array(data.Minv)
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    return float(np.abs(ours - theirs[np.ix_(order, order)]).max() / np.abs(theirs).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=int, nargs="+", default=[1, 4, 8, 32])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--forms", action="store_true")
    asked = parser.parse_args()
    if asked.forms:
        import sensitivity_forms

        for parameters in (1, 8):
            sensitivity_forms.report([2, 3, 4, 6, 8], parameters)
        return
    for name, make in MODELS.items():
        if asked.only and not any(word in name for word in asked.only):
            continue
        model = make()
        rows, dyn = states(model), varied(model)
        value = of_value(model, rows)
        jacobians = of_jacobians(model, rows)
        other = None if model.closures else of_pinocchio(model)
        beside = "" if other is None else f", Pinocchio {other * 1e6:.2f} us"
        print(f"{name}: value {value * 1e6:.2f} us, jacobians {jacobians * 1e6:.2f} us{beside}", flush=True)
        for count in asked.parameters:
            partial, total = (of_tangents(dyn, rows, along, count) for along in ((), ("q", "v")))
            costs = [f"{x * 1e6:8.2f} us, {x / value / count:5.2f} of a value each" for x in (partial, total)]
            print(f"    p = {count:3}:  partial {costs[0]}   total {costs[1]}", flush=True)


if __name__ == "__main__":
    main()
