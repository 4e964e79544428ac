"""Robots of others: the URDFs of the package example-robot-data, if it is there (pip install bellcrank[corpus]).

Each loads, on a fixed and on a free base, and accelerates as pin.aba says, or is refused with the reason. Masses that are nearly
zero make some of them nearly singular; their tolerance is a multiple of how much rounding may grow (Skeel's condition number).
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import null_space

import bellcrank as bc
from bellcrank.model.generators import random_state
from tests import reference

from .engines import change, loaded

FOLDER = Path(sys.prefix) / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
ROBOTS = FOLDER / "cmeel.prefix/share/example-robot-data/robots"
FILES = sorted(ROBOTS.rglob("*.urdf")) if ROBOTS.is_dir() else []
EMPTY = {"ur3.urdf": "the robot has no link"}
LENIENT = {"broken_inertia": "allow", "massless": "fix"}

pytestmark = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_robot_loads_and_moves_as_in_pinocchio(file, base, recwarn):
    pin = pytest.importorskip("pinocchio")
    if file.name in EMPTY:
        with pytest.raises(bc.ModelError, match=EMPTY[file.name]):
            bc.load(file)
        return
    model = loaded(file, base=base, **LENIENT)
    tree = dataclasses.replace(model, elements=(), closures=())  # aba knows neither friction nor mimic joints
    theirs = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if base == "free" else []))
    if model.nv == 0:
        return
    dynamics = bc.compile(tree)
    for seed in range(2):
        q, v = random_state(tree, seed)
        tau = np.random.default_rng(seed).uniform(-1, 1, tree.nv)
        ours = dynamics.acceleration(q, v, tau)
        exact = reference.dynamics(tree, q, v)
        tolerance = max(1e-12, 1e-15 * exact.amplification(tau))
        if tree.nv == theirs.nv:  # else massless leaves are locked, with which aba gives no number
            there = tree.to_pinocchio(q, v, tau=tau)
            expected = pin.aba(theirs, theirs.createData(), *there)
            _, _, mine = tree.to_pinocchio(q, v, ours)
            assert np.abs(mine - expected).max() < max(1e-10, tolerance) * np.abs(expected).max()
        expected = exact.acceleration(tau).astype(float)
        assert np.abs(ours - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("file", FILES[::4], ids=lambda file: file.stem)
def test_a_robot_survives_toml_and_urdf(file, tmp_path):
    if file.name in EMPTY:
        return
    model = loaded(file, **LENIENT)
    bc.save(model, tmp_path / "robot.toml")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        bc.save(bc.load(tmp_path / "robot.toml"), tmp_path / "robot.urdf")
    again = loaded(tmp_path / "robot.urdf", **LENIENT)
    if model.nv:
        assert change(*(dataclasses.replace(x, closures=()) for x in (model, again))) < 1e-11


@pytest.mark.parametrize(
    "file", [file for file in FILES if "<mimic" in file.read_text(errors="ignore")], ids=lambda file: file.stem
)
def test_mimic_joints_move_as_the_reduced_equations_say(file):
    """Couplers are linear, so with v = N y, G N = 0:  N^T M N y' = N^T (tau - h). Aba refuses mimic joints."""
    model = dataclasses.replace(loaded(file, **LENIENT), elements=())
    if not model.closures:
        return
    dynamics, tree = bc.compile(model), bc.compile(dataclasses.replace(model, closures=()))
    rng = np.random.default_rng(1)
    N = null_space(dynamics.closure_jacobian(model.initial_q))
    v, tau = N @ (N.T @ rng.uniform(-1, 1, model.nv)), rng.uniform(-1, 1, model.nv)  # N N^T does not depend on the basis
    q = model.initial_q + N @ (N.T @ rng.uniform(-1, 1, model.nv))
    M, h = tree.mass_matrix(q), tree.inverse_dynamics(q, v, 0 * v)
    expected = N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau - h))
    tolerance = max(1e-12, 1e-15 * np.linalg.cond(N.T @ M @ N))
    assert np.abs(dynamics.acceleration(q, v, tau) - expected).max() < tolerance * np.abs(expected).max()
