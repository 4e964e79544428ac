"""Peers as calls that can be timed: many states inside their own loop, and one call from Python."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from part import found

import bellcrank as bc
from bellcrank.kernels import jit
from bellcrank.model import Model

Array = NDArray[np.float64]
Call = Callable[[], Any]


def pinocchio_batch(model: Model, q: Array, v: Array, tau: Array) -> Call:
    """abaInParallel with one thread: Pinocchio's own C++ loop over the states."""
    import pinocchio as pin

    pin_model = peers.to_pinocchio(model)
    pool = pin.ModelPool(pin_model, 1)
    converted = [peers.pinocchio_state(model, pin_model, *state) for state in zip(q, v, tau, strict=True)]
    Q, V, T = (np.asfortranarray(np.array(x).T) for x in zip(*converted, strict=True))
    out = np.asfortranarray(np.zeros_like(V))
    return lambda: pin.abaInParallel(1, pool, Q, V, T, out)


def pinocchio_accelerations(model: Model, q: Array, v: Array, tau: Array) -> Array:
    pin_model = peers.to_pinocchio(model)
    return np.array([peers.pinocchio_acceleration(model, pin_model, *state) for state in zip(q, v, tau, strict=True)])


def mujoco_loop(model: Model, q: Array, v: Array, tau: Array, repeats: int) -> Call:
    """mj_forward ``repeats`` times at one state, called from a loop in machine code so that Python takes no part."""
    import mujoco

    mj_model = peers.to_mujoco(model)
    data = _mujoco_data(model, mj_model, q, v, tau)
    library = ctypes.CDLL(str(next(Path(mujoco.__file__).parent.glob("libmujoco*"))))
    forward = ctypes.cast(library.mj_forward, ctypes.c_void_p).value
    text = f"""
define void @loop(ptr %m, ptr %d, i64 %count) {{
entry:
  br label %top
top:
  %k = phi i64 [0, %entry], [%next, %top]
  call void inttoptr (i64 {forward} to ptr)(ptr %m, ptr %d)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %top, label %done
done:
  ret void
}}
"""
    code = jit.load_object(jit.compile_text(text))
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("loop"))
    addresses = mj_model._address, data._address
    keep = (mj_model, data, code, library)
    return lambda: (loop(*addresses, repeats), keep)


def _mujoco_data(model: Model, mj_model: Any, q: Array, v: Array, tau: Array) -> Any:
    import mujoco

    data = mujoco.MjData(mj_model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = peers.mujoco_state(model, mj_model, q, v, tau)
    return data


def python_calls(model: Model, q: Array, v: Array, tau: Array) -> dict[str, Call]:
    """One evaluation as a user of each engine that is installed writes it; each gives the accelerations."""
    calls: dict[str, Call] = {}
    if found("pinocchio"):
        calls["pin.aba"] = _pinocchio_call(model, q, v, tau)
    if found("mujoco"):
        calls["mujoco.mj_forward"] = _mujoco_call(model, q, v, tau)
    if found("pydrake"):
        calls["Drake"] = _drake_call(model, q, v, tau)
    return calls


def _pinocchio_call(model: Model, q: Array, v: Array, tau: Array) -> Call:
    import pinocchio as pin

    pin_model = peers.to_pinocchio(model)
    data, state = pin_model.createData(), peers.pinocchio_state(model, pin_model, q, v, tau)
    return lambda: pin.aba(pin_model, data, *state)


def _mujoco_call(model: Model, q: Array, v: Array, tau: Array) -> Call:
    import mujoco

    mj_model = peers.to_mujoco(model)
    data = _mujoco_data(model, mj_model, q, v, tau)

    def call() -> Any:
        mujoco.mj_forward(mj_model, data)
        return data.qacc

    return call


def _drake_call(model: Model, q: Array, v: Array, tau: Array) -> Call:
    """A MultibodyPlant in continuous time, of our URDF; the state is set anew, since Drake keeps what it has computed."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.urdf"
        bc.save(model, path)
        Parser(plant).AddModels(str(path))
    plant.mutable_gravity_field().set_gravity_vector(np.array(model.gravity))
    plant.Finalize()
    context, x = plant.CreateDefaultContext(), np.concatenate([q, v])
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)

    def call() -> Any:
        plant.SetPositionsAndVelocities(context, x)
        return plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()

    return call
