"""Measures that every model has, against the quantities that Dynamics gives by other ways, on random trees and loops."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.measures.columns import VECTOR_FORCES
from bellcrank.model.measures.measure import WRENCH
from bellcrank.model.measures.paths import path_names
from bellcrank.results.derived import drive_efforts
from bellcrank.results.labels import Labels

from .. import closed
from ..closed_states import moving
from ..mechanisms import loaded_tree

ROUNDING = 1e-10  # of the largest of a kind
STEP = 1e-5  # s: central differences are good to its square


@cache
def mechanism(kind):
    if kind == "tree":
        return loaded_tree(8, 3)
    kinds = ("spherical", "driven revolute", "driven distance", "coupler")
    return closed.random_closed(10, 5, kinds, driven=0.2, loads=True)


@cache
def measured(kind):
    """The model compiled, a state with its acceleration, and all paths with their values."""
    model = mechanism(kind)
    dyn = bc.compile(model, optimisation=0)
    at = moving(model, 2)
    names = path_names(model)
    values = dyn.measures(at["q"], at["v"], at["tau"], t=at["t"], inputs=at["inputs"], names=names)
    at["a"] = dyn.acceleration(at["q"], at["v"], at["tau"], t=at["t"], inputs=at["inputs"])
    return dyn, at, dict(zip(names, values, strict=True))


def close(found, expected):
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(found, expected, atol=ROUNDING * (1 + np.abs(expected).max(initial=0.0)), rtol=0)


KINDS = pytest.mark.parametrize("kind", ["tree", "loops"])


@KINDS
def test_coordinates_are_those_of_the_state(kind):
    dyn, at, found = measured(kind)
    model = dyn.model
    close([found[name] for name in model.q_names], at["q"])
    close([found[f"{name}.q"] for name in model.q_names], at["q"])
    close([found[f"{name}.v"] for name in model.v_names], at["v"])
    close([found[f"{name}.a"] for name in model.v_names], at["a"])
    close([found[name] for name in model.closing_names], dyn.closing_coordinates(at["q"], t=at["t"]))


@KINDS
def test_forces_are_those_of_joints_elements_and_drives(kind):
    dyn, at, found = measured(kind)
    model, given = dyn.model, {"t": at["t"], "inputs": at["inputs"]}
    q, v, a, tau = (at[name] for name in ("q", "v", "a", "tau"))
    wrenches = dyn.reactions(q, v, a, tau=tau, **given)
    close([[found[f"{name}.{part}"] for part in WRENCH] for name in model.joint_names], wrenches)
    close([found[f"{name}.force"] for name in model.joint_names], np.linalg.norm(wrenches[:, :3], axis=1))
    if model.closures:
        rows = [k for k, closure in enumerate(model.closures) if closure.kind != "coupler"]
        closing = dyn.closure_reactions(q, v, tau, **given)[rows]
        close([[found[f"{model.closures[k].name}.{part}"] for part in WRENCH] for k in rows], closing)
    energies, powers, forces = dyn.elements(q, v, **given)
    for part, expected in (("energy", energies), ("power", powers)):
        close([found[f"{e.name}.{part}"] for e in model.elements], expected)
    scalars = [k for k, e in enumerate(model.elements) if e.kind not in (*VECTOR_FORCES,)]
    close([found[f"{model.elements[k].name}.force"] for k in scalars], forces[scalars])
    efforts = drive_efforts(dyn, q, v, a, tau=tau, **given)
    assert len(efforts) > 0
    close([found[f"{name}.effort"] for name in Labels.of(model).drives], efforts)


@KINDS
def test_energy_and_momentum_are_those_of_all_bodies(kind):
    dyn, at, found = measured(kind)
    kinetic, potential = dyn.energy(at["q"], at["v"], t=at["t"])
    linear, angular = dyn.momentum(at["q"], at["v"], t=at["t"])
    stored = dyn.elements(at["q"], at["v"], t=at["t"], inputs=at["inputs"])[0].sum()
    close([found[f"energy.{x}"] for x in ("kinetic", "potential", "stored")], [kinetic, potential, stored])
    close(found["energy.total"], kinetic + potential + stored)
    close([found[f"momentum.{x}"] for x in "xyz"], linear)
    close([found[f"angular_momentum.{x}"] for x in "xyz"], angular)
    assert found["time"] == at["t"] and [found[name] for name in dyn.model.inputs] == list(at["inputs"])


@KINDS
def test_power_of_everything_is_the_rate_of_the_energy(kind):
    """d/dt energy.total = sum of all powers and of tau v, by central differences along the motion."""
    dyn, at, found = measured(kind)
    names = [f"{e.name}.power" for e in dyn.model.elements] + [
        n for n in found if n.endswith(".power") and n[:-6] in drives(dyn)
    ]
    brought = sum(found[name] for name in dict.fromkeys(names)) + at["tau"] @ at["v"]
    before, after = along(dyn, at, ["energy.total"])
    assert (after - before)[0] / (2 * STEP) == pytest.approx(brought, rel=1e-6, abs=1e-6 * abs(found["energy.kinetic"]))


def drives(dyn):
    return set(Labels.of(dyn.model).drives)


def along(dyn, at, names):
    """Measures a little before and after, on the motion."""
    q, v, a, t = (at[name] for name in ("q", "v", "a", "t"))
    rates = dyn.rates(q, v)
    second = (dyn.rates(q + STEP * rates, v + STEP * a) - dyn.rates(q - STEP * rates, v - STEP * a)) / (2 * STEP)
    states = [(q + h * rates + h * h / 2 * second, v + h * a, t + h) for h in (-STEP, STEP)]
    return [dyn.measures(x, y, at["tau"], t=s, inputs=at["inputs"], names=names) for x, y, s in states]


@KINDS
def test_velocities_are_rates_of_positions_and_accelerations_those_of_velocities(kind):
    dyn, at, found = measured(kind)
    model = dyn.model
    for position, velocity in (("", "v"), ("v", "a")):
        names = [f"{body}.{position}{axis}" for body in model.body_names for axis in "xyz"]
        rates = [found[f"{body}.{velocity}{axis}"] for body in model.body_names for axis in "xyz"]
        before, after = along(dyn, at, names)
        np.testing.assert_allclose(rates, (after - before) / (2 * STEP), atol=1e-7 * (1 + np.abs(rates).max()))
    positions, _ = dyn.poses(at["q"], t=at["t"])
    close([[found[f"{body}.{axis}"] for axis in "xyz"] for body in model.body_names], positions)


def test_velocities_of_closing_joints_are_rates_of_their_coordinates():
    dyn, at, found = measured("loops")
    joints = [c for c in dyn.model.closures if c.joint is not None and c.joint.quaternion is None]
    names = [f"{c.name}.{part}".removesuffix(".") for c in joints for part in c.joint.q_names]
    before, after = along(dyn, at, names)
    rates = [found[f"{name}.v"] for name in names]
    assert np.abs(rates).min() > 1e-3
    np.testing.assert_allclose(rates, (after - before) / (2 * STEP), atol=1e-8)


def test_the_error_of_a_loop_is_the_largest_of_its_equations():
    dyn, at, _ = measured("loops")
    model = dyn.model
    q = at["q"] + 1e-3 * np.sin(np.arange(model.nq))
    error, _ = dyn.closure(q, at["v"], t=at["t"])
    names = [f"{c.name}.error" for c in model.closures]
    parts = np.split(np.abs(error), model.closure_index[1:-1])
    close(dyn.measures(q, at["v"], t=at["t"], names=names), [part.max() for part in parts])
    assert dyn.measures(q, at["v"], t=at["t"], names=["closure.error"])[0] == np.abs(error).max()


@KINDS
def test_other_formulations_say_the_same(kind):
    dyn, at, found = measured(kind)
    names = [name for name in found if name.endswith((".fx", ".mz", ".a", ".effort"))][::5]
    for formulation in ("mass_matrix",) if kind == "tree" else ("multipliers",):
        other = bc.compile(dyn.model, formulation, optimisation=0)
        values = other.measures(at["q"], at["v"], at["tau"], t=at["t"], inputs=at["inputs"], names=names)
        np.testing.assert_allclose(values, [found[name] for name in names], rtol=1e-7, atol=1e-7)


def test_lanes_and_many_states_say_the_same():
    dyn, at, found = measured("tree")
    names = list(found)[::7]
    q, v, tau = (np.tile(at[name], (5, 1)) for name in ("q", "v", "tau"))
    batch = dyn.measures(q, v, tau, t=at["t"], inputs=at["inputs"], names=names)
    assert batch.shape == (5, len(names))
    close(batch, np.tile([found[name] for name in names], (5, 1)))


def test_a_path_is_found_before_its_model_has_measures_and_a_wrong_one_says_so():
    dyn = measured("tree")[0]
    with pytest.raises(bc.StateError, match=r'"energy.kinetik" is not a measure; did you mean energy.kinetic\?'):
        dyn.measures(dyn.model.initial_q, dyn.model.initial_v, names=["energy.kinetik"])
    with pytest.raises(bc.StateError, match='"momentum" has several values: write momentum.x, momentum.y or momentum.z'):
        dyn.measures(dyn.model.initial_q, dyn.model.initial_v, names=["momentum"])
    undriven = next(name for name, driven in zip(dyn.model.joint_names, dyn.model.driven, strict=True) if not driven)
    with pytest.raises(bc.StateError, match=f"'{undriven}' has no prescribed motion, and so no drive"):
        dyn.measures(dyn.model.initial_q, dyn.model.initial_v, names=[f"{undriven}.effort"])
    with pytest.raises(bc.StateError, match="names must be a list"):
        dyn.measures(dyn.model.initial_q, dyn.model.initial_v, names="time")
    bare = bc.compile(replace(dyn.model, measures=()), optimisation=0)
    assert bare.measures(dyn.model.initial_q, dyn.model.initial_v).shape == (0,)


@KINDS
def test_derivatives_are_those_of_differences(kind):
    """Of every seventh path, but for lengths of what is zero: along random changes that keep the loops closed."""
    dyn, at, found = measured(kind)
    kinked = [name for name in found if name.endswith((".force", ".moment")) and abs(found[name]) < 1e-9]
    names = [name for name in found if not name.endswith(".error") and name not in kinked][::7]
    given = {"t": at["t"], "inputs": at["inputs"]}
    J = dyn.measure_jacobians(at["q"], at["v"], at["tau"], names=names, **given)
    rng = np.random.default_rng(3)
    way, turn, push, signal = (rng.uniform(-1, 1, x.shape[1]) for x in J)
    G = dyn.closure_jacobian(at["q"], t=at["t"])
    way -= np.linalg.pinv(G) @ (G @ way)
    along = sum(x @ y for x, y in zip(J, (way, turn, push, signal), strict=True))
    rates = dyn.rates(at["q"], way)
    ends = []
    for h in (-STEP, STEP):
        state = at["q"] + h * rates, at["v"] + h * turn, at["tau"] + h * push
        ends.append(dyn.measures(*state, t=at["t"], inputs=at["inputs"] + h * signal, names=names))
    difference = (ends[1] - ends[0]) / (2 * STEP)
    np.testing.assert_allclose(along, difference, rtol=1e-5, atol=1e-6 * (1 + np.abs(difference).max()))
