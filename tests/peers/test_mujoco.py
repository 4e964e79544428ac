"""The same mechanisms in MuJoCo, through model text written by us.

MuJoCo turns every inertia to principal axes and factors the mass matrix. Its distance to the reference in extended
precision (tests/reference.py) was measured as 3e-13 at n = 24 and 6e-12 at n = 100, where ours is 2e-15: so 1e-10 of the
largest acceleration leaves room for its error.
"""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.generators import chain, humanoid, random_state, random_tree

from .convert import peers

mujoco = pytest.importorskip("mujoco")

MECHANISMS = {
    **{f"chain of {n}": lambda n=n: chain(n) for n in (2, 7, 24, 100)},
    "humanoid": humanoid,
    "tree with armature": lambda: random_tree(12, 4, armature=True, shuffle=True),
    "tree on a free base": lambda: random_tree(12, 6, free_root=True),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_are_those_of_mujoco(name):
    model = MECHANISMS[name]()
    theirs, dynamics = peers.to_mujoco(model), bc.compile(model)
    for seed in range(3):
        q, v = random_state(model, seed)
        tau = np.random.default_rng(seed).uniform(-1, 1, model.nv)
        expected = peers.mujoco_acceleration(model, theirs, q, v, tau)
        assert np.abs(dynamics.acceleration(q, v, tau) - expected).max() < 1e-10 * np.abs(expected).max()


def test_mujoco_cannot_have_a_free_joint_on_a_moving_body():
    with pytest.raises(ValueError, match="free joints on ground only"):
        peers.to_mujoco(random_tree(3, 0, ("free",)))
