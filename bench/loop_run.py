"""Ten seconds of the four-bar: how loop and energy keep, and what a step costs.   python bench/loop_run.py [--json FILE]

Ours: RK4 with steps of 1 ms and a projection after each, in every formulation. MuJoCo with its defaults, and as stiff as it
takes its constraints (RK4, solimp 0.9999, solref of two steps), at 1 ms and 0.1 ms. Exudyn's generalised-alpha and trapezoidal
index-2 rules at 1 ms, if it is installed. The loop is looked at, and the energy, every 10 ms (m or rad, J). Times are of the
processor, per step, as each engine goes through its steps by itself: the best of many stretches of 200 steps, of Exudyn what
200 more steps take.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import loop_peers
import mujoco
import numpy as np
import peers
from cpu_timing import once
from loops import formulations
from mujoco import rollout
from numpy.typing import NDArray
from part import Part, Row, found, show

import bellcrank as bc
from bellcrank.integrate import METHODS
from bellcrank.model import Model
from bellcrank.run import compiled as machine
from bellcrank.run.arguments import sample_times, starting_state

Array = NDArray[np.float64]
MODEL = Path(__file__).parents[1] / "models" / "four_bar.toml"
DURATION, SAMPLE, STEP = 10.0, 0.01, 1e-3
COMPARED = 0.2  # s from the start, in which the crank's angle is compared with that of a tight run
STRETCH, REPEATS = 200, 300  # steps, short enough not to be interrupted, and how often they are timed


RULES = ("GeneralizedAlpha", "TrapezoidalIndex2")


def best(call: Callable[[], object], repeats: int) -> float:
    return min(once(call) for _ in range(repeats))


def row(
    engine: str, step: float, loop: float, energy: Array, kinetic: float, crank: Array, time: Callable[[], float]
) -> dict[str, Any]:
    """``crank``: its angle at the samples, compared before ``time`` finds the seconds of a step."""
    drift, expected = float(np.abs(energy - energy[0]).max()), reference()
    off = float(np.abs(crank[: len(expected)] - expected).max())
    seconds = time()
    return {
        "engine": engine,
        "step, ms": step * 1e3,
        "loop": loop,
        "energy, J": drift,
        "of kinetic": drift / kinetic,
        "crank, first 0.2 s": off,
        "us per step": seconds * 1e6,
    }


@cache
def reference() -> Array:
    """The angle of the crank as a tight run has it."""
    return bc.simulate(bc.load(MODEL), COMPARED, step=SAMPLE, method="dop853", rtol=1e-12, atol=1e-12).values("q")[:, 0]


def judged(dynamics: bc.Dynamics, engine: str, step: float, q: Array, v: Array, time: Callable[[], float]) -> dict[str, Any]:
    """Samples in our coordinates."""
    kinetic, potential = dynamics.energy(q, v)
    loop = float(np.abs(dynamics.closure(q, v)[0]).max())
    return row(engine, step, loop, kinetic + potential, float(np.max(kinetic)), q[:, 0], time)


def start(model: Model) -> tuple[Array, Array]:
    """The assembled start."""
    run = bc.simulate(model, SAMPLE, step=SAMPLE)
    return run.values("q")[0], run.values("v")[0]


def ours(model: Model) -> list[dict[str, Any]]:
    rows = []
    for name, arguments in formulations(every=False).items():
        dynamics = bc.compile(model, **arguments)
        run = bc.simulate(model, DURATION, step=SAMPLE, method="rk4", max_step=STEP, **arguments)
        q, v = start(model)
        given = starting_state(dynamics, None, {"q": q, "v": v, "tau": None, "u": None})
        times = sample_times(STRETCH * STEP, SAMPLE)

        def time(dynamics: bc.Dynamics = dynamics, given: Any = given, times: Array = times) -> float:
            seconds = []
            for _ in range(REPEATS):
                trajectory = machine.prepare(dynamics, METHODS["rk4"], given, times, 1e-9, 1e-9, STEP)
                trajectory.set_count("project", 1)
                seconds.append(once(lambda: machine.advance_to_end(trajectory)))  # noqa: B023
            return min(seconds) / STRETCH

        rows.append(judged(dynamics, f"Bellcrank, {name}", STEP, run.values("q"), run.values("v"), time))
    return rows


def in_mujoco(model: Model, stiff: bool, step: float) -> dict[str, Any]:
    q, v = start(model)
    theirs = loop_peers.to_mujoco(model)
    theirs.opt.timestep = step
    if stiff:
        theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        theirs.opt.tolerance, theirs.opt.iterations = 1e-15, 20
        theirs.eq_solref[:], theirs.eq_solimp[:] = (2 * step, 1.0), (0.9999, 0.9999, 1e-3, 0.5, 2.0)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:], _ = peers.mujoco_state(model, theirs, q, v, np.zeros(model.nv))
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    first = np.zeros((1, mujoco.mj_stateSize(theirs, kind)))
    mujoco.mj_getState(theirs, data, first[0], kind)
    states, _ = rollout.rollout(theirs, data, first, nstep=round(DURATION / step))
    every = round(SAMPLE / step)
    states = np.vstack([first, states[0][every - 1 :: every]])
    order = peers.mujoco_order(model, theirs)  # all joints are hinges: the same for positions
    q, v = states[:, 1 : 1 + theirs.nq][:, order], states[:, 1 + theirs.nq : 1 + theirs.nq + theirs.nv][:, order]

    def time() -> float:
        return best(lambda: rollout.rollout(theirs, data, first, nstep=STRETCH), REPEATS) / STRETCH

    return judged(bc.compile(model), f"MuJoCo, {'stiffest' if stiff else 'defaults'}", step, q, v, time)


# Exudyn ----------------------------------------------------------------------------------------------------------------------


def centroids(model: Model) -> tuple[Array, Array]:
    """x, y, angle of the bodies' centroids at the start, and their rates, for a planar model in its design position."""
    q, v = start(model)
    if np.abs(q).max() > 1e-12:
        raise ValueError(f"{model.name!r} does not start in its design position")
    place, rate = np.zeros((model.n, 3)), np.zeros((model.n, 3))
    origin, motion = {-1: np.zeros(2)}, {-1: np.zeros(3)}
    for i in peers.outward(model):
        parent, shift = model.parents[i], model.position[i][:2]
        base = motion[parent]
        origin[i] = origin[parent] + shift
        motion[i] = np.array([*(base[:2] + base[2] * turned(shift)), base[2] + v[model.v_index[i]]])
        c = model.center[i][:2]
        place[i, :2], rate[i] = origin[i] + c, [*(motion[i][:2] + motion[i][2] * turned(c)), motion[i][2]]
    return place, rate


def turned(x: Array) -> Array:
    return np.array([-x[1], x[0]])


def pins(model: Model) -> list[tuple[int, Array, int, Array]]:
    """All hinges, tree and closing: body, point from its centroid, other body, point; ground's from the world's origin."""
    c = [*(x[:2] for x in model.center), np.zeros(2)]
    found = []
    for i, parent in enumerate(model.parents):
        found.append((parent, model.position[i][:2] - c[parent], i, -c[i]))
    for closure in model.closures:
        a, b = closure.body_a, closure.body_b
        found.append((a, np.array(closure.point_a)[:2] - c[a], b, np.array(closure.point_b)[:2] - c[b]))
    return found


def in_exudyn(model: Model, rule: str) -> dict[str, Any]:
    import exudyn as exu
    from exudyn import itemInterface as item

    system = exu.SystemContainer().AddSystem()
    place, rate = centroids(model)
    bodies = {-1: system.AddObject(item.ObjectGround())}
    sensors = []
    for i in range(model.n):
        node = system.AddNode(item.NodeRigidBody2D(referenceCoordinates=list(place[i]), initialVelocities=list(rate[i])))
        inertia = float(model.inertia[i][2, 2])
        bodies[i] = system.AddObject(item.ObjectRigidBody2D(mass=float(model.mass[i]), inertia=inertia, nodeNumber=node))
        weight = system.AddMarker(item.MarkerBodyMass(bodyNumber=bodies[i]))
        system.AddLoad(item.LoadMassProportional(markerNumber=weight, loadVector=list(model.gravity)))
        for what in (exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t):
            sensors.append(system.AddSensor(item.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=what)))
    for a, at_a, b, at_b in pins(model):
        ends = [(bodies[a], at_a), (bodies[b], at_b)]
        markers = [system.AddMarker(item.MarkerBodyPosition(bodyNumber=n, localPosition=[*x, 0])) for n, x in ends]
        system.AddObject(item.ObjectJointRevolute2D(markerNumbers=markers))
    system.Assemble()
    kind = getattr(exu.DynamicSolverType, rule)

    def solve(steps: int) -> None:
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, steps * STEP
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = SAMPLE
        system.SolveDynamic(settings, solverType=kind, updateInitialValues=False)

    def time() -> float:
        some, more = (best(lambda: solve(steps), 60) for steps in (STRETCH, 2 * STRETCH))  # noqa: B023
        return (more - some) / STRETCH

    solve(round(DURATION / STEP))
    stored = [system.GetSensorStoredData(s)[:, 1:] for s in sensors]
    return _planar_row(model, f"Exudyn, {rule}", np.stack(stored[::2]) + place[:, None], np.stack(stored[1::2]), time)


def _planar_row(model: Model, engine: str, place: Array, rate: Array, time: Callable[[], float]) -> dict[str, Any]:
    """place, rate: (bodies, samples, 3); the crank is the first body, and its angle the first coordinate."""
    mass, inertia = model.mass[:, None], model.inertia[:, 2, 2][:, None]
    kinetic = ((mass * (rate[..., :2] ** 2).sum(-1) + inertia * rate[..., 2] ** 2) / 2).sum(0)
    potential = -(mass * (place[..., :2] @ model.gravity[:2])).sum(0)
    loop = 0.0
    for a, at_a, b, at_b in pins(model):
        gap = _point(place, a, at_a) - _point(place, b, at_b)
        loop = max(loop, float(np.abs(gap).max()))
    return row(engine, STEP, loop, kinetic + potential, float(kinetic.max()), place[0, :, 2], time)


def _point(place: Array, body: int, at: Array) -> Array:
    if body < 0:
        return at
    x, y, angle = place[body].T
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([x + cos * at[0] - sin * at[1], y + sin * at[0] + cos * at[1]], axis=-1)


GIVES_WAY = 0.01  # rad of the crank in 0.2 s, where constraints are soft


def part(quick: bool) -> Part:
    """Ten seconds of the four-bar by engines that keep the loop closed in their own ways."""
    table = ours(bc.load(MODEL))
    table += [in_mujoco(bc.load(MODEL), stiff, STEP) for stiff in (False, True)]
    if found("exudyn"):
        table += [in_exudyn(bc.load(MODEL), rule) for rule in (("GeneralizedAlpha",) if quick else RULES)]
    own = next(x for x in table if "coordinate_reduction" in x["engine"])
    mine, rows = own["us per step"], []
    for x in table:
        if not x["engine"].startswith("Bellcrank"):
            theirs, off = x["us per step"], x["crank, first 0.2 s"]
            more = {"beside": {"energy error of the other, J": x["energy, J"]}, "within": GIVES_WAY}
            rows.append(Row("four-bar, a step of 1 ms", theirs / mine, mine, x["engine"], theirs, "us", off, **more))
    return Part("runs of a loop", rows, {"Ten seconds of the four-bar, steps of 1 ms": table})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    model = bc.load(MODEL)
    rows = ours(model)
    rows += [in_mujoco(model, stiff, step) for stiff, step in ((False, STEP), (True, STEP), (True, STEP / 10))]
    if found("exudyn"):
        rows += [in_exudyn(model, rule) for rule in RULES]
    else:
        print("Exudyn is not installed (pip install exudyn): left out")
    show("Ten seconds of the four-bar", rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
