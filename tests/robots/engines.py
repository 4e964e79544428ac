"""The same model here and in another engine: largest differences of accelerations, over the largest of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.model.generators import random_state

SWITCHED_OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS", "CLAMPCTRL", "EQUALITY")


def loaded(source: Any, **options: Any) -> bc.Model:
    """A model, without the warning that lists what is not simulated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        return bc.load(source, **options)


def from_mujoco(model: bc.Model, text: str, *, seeds: int = 2) -> float:
    """Largest difference from mj_forward, with what is not simulated switched off in MuJoCo."""
    import mujoco

    theirs = mujoco.MjModel.from_xml_string(text)
    for name in SWITCHED_OFF:
        theirs.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    data, dynamics, worst = mujoco.MjData(theirs), bc.compile(model), 0.0
    actuators = [model.source.names.get(name, name) for name in model.inputs]
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        q, v = random_state(model, seed)
        tau, u = rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, len(model.inputs))
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = model.to_mujoco(q, v, tau=tau)
        for name, value in zip(actuators, u, strict=True):
            data.ctrl[mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_ACTUATOR, name)] = value
        mujoco.mj_forward(theirs, data)
        _, _, ours = model.to_mujoco(q, v, dynamics.acceleration(q, v, tau, inputs=u))
        worst = max(worst, np.abs(ours - data.qacc).max() / np.abs(data.qacc).max())
    return float(worst)


def from_pinocchio(model: bc.Model, theirs: Any, *, seeds: int = 2) -> float:
    """Largest difference from pin.aba; the model must have no forces but gravity."""
    import pinocchio as pin

    dynamics, worst = bc.compile(model), 0.0
    for seed in range(seeds):
        q, v = random_state(model, seed)
        tau = np.random.default_rng(seed).uniform(-1, 1, model.nv)
        there = model.to_pinocchio(q, v, tau=tau)
        expected = pin.aba(theirs, theirs.createData(), *there)
        _, _, ours = model.to_pinocchio(q, v, dynamics.acceleration(q, v, tau))
        worst = max(worst, np.abs(ours - expected).max() / np.abs(expected).max())
    return float(worst)


def change(first: bc.Model, second: bc.Model, *, seeds: int = 2) -> float:
    """Largest difference of accelerations of two models that have the same joints, in any order."""
    one, two = bc.compile(first), bc.compile(second)
    order_q = [first.q_names.index(name) for name in second.q_names]
    order_v = [first.v_names.index(name) for name in second.v_names]
    worst = 0.0
    for seed in range(seeds):
        q, v = random_state(first, seed)
        tau = np.random.default_rng(seed).uniform(-1, 1, first.nv)
        inputs = np.random.default_rng(seed).uniform(-1, 1, len(first.inputs))
        a = one.acceleration(q, v, tau, inputs=inputs)
        b = two.acceleration(q[order_q], v[order_v], tau[order_v], inputs=inputs)
        worst = max(worst, np.abs(a[order_v] - b).max() / np.abs(a).max())
    return float(worst)
