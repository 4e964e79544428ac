"""Peers as calls that can be timed: many states inside their own loop, and one call from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import peers
import pinocchio as pin
from numpy.typing import NDArray

from bellcrank.kernels import jit
from bellcrank.model import Model

Array = NDArray[np.float64]
Call = Callable[[], Any]


def pinocchio_batch(model: Model, q: Array, v: Array, tau: Array) -> Call:
    """abaInParallel with one thread: Pinocchio's own C++ loop over the states."""
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
    data = mujoco.MjData(mj_model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = peers.mujoco_state(model, mj_model, q, v, tau)
    return data


def python_calls(model: Model, q: Array, v: Array, tau: Array) -> dict[str, Call]:
    """One evaluation as a user of each engine writes it."""
    pin_model = peers.to_pinocchio(model)
    pin_data = pin_model.createData()
    state = peers.pinocchio_state(model, pin_model, q, v, tau)
    mj_model = peers.to_mujoco(model)
    mj_data = _mujoco_data(model, mj_model, q, v, tau)
    return {
        "pin.aba": lambda: pin.aba(pin_model, pin_data, *state),
        "mujoco.mj_forward": lambda: mujoco.mj_forward(mj_model, mj_data),
    }
