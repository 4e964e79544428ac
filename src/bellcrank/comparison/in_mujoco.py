"""A model in MuJoCo, through the MJCF that we write, with equality constraints as stiff as MuJoCo takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..io.exchange.mujoco_log import without_log
from ..io.exchange.states import mujoco_states
from ..io.mjcf.writer import write
from ..model import Model
from .engines import STEP, Array, Trajectory

STIFF = (2 * STEP, 1.0)  # solref: the shortest time that is stable with this step, critically damped
HARD = (0.9999, 0.9999, 1e-3, 0.5, 2.0)  # solimp: MuJoCo goes no further than 0.9999


UNSTABLE = "it became unstable"


class InMuJoCo:
    """The bare model: no forces but gravity, no limits."""

    name = "MuJoCo"

    def __init__(self, model: Model, text: str | None = None) -> None:
        """The model in MuJoCo; ``text``: the MJCF that the model came from, instead of the one that we write."""
        import mujoco

        text = write(model)[0] if text is None else text
        self.mujoco, self.model, self.states = mujoco, model, mujoco_states(model)
        with without_log(mujoco):
            self.theirs: Any = mujoco.MjModel.from_xml_string(text)
        self.theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.theirs.opt.timestep = STEP
        self.theirs.opt.tolerance, self.theirs.opt.iterations = 0.0, 200
        if self.theirs.neq:
            self.theirs.eq_solref[:], self.theirs.eq_solimp[:] = STIFF, HARD
        self.data = mujoco.MjData(self.theirs)
        self.note = "keeps its constraints softly, as stiff here as it can" if self.theirs.neq else ""

    def _set(self, q: Array, v: Array, tau: Array) -> None:
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = self.states.there(q, v, None, tau)

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        self._set(q, v, tau)
        with without_log(self.mujoco):
            self.mujoco.mj_forward(self.theirs, self.data)
        _, _, a = self.states.here(self.data.qpos, self.data.qvel, self.data.qacc, None)
        return np.asarray(a)

    def call(self, q: Array, v: Array, tau: Array) -> Callable[[], Any]:
        self._set(q, v, tau)
        return lambda: self.mujoco.mj_forward(self.theirs, self.data)

    def move(self, duration: float) -> Trajectory:
        self.mujoco.mj_resetData(self.theirs, self.data)
        self._set(self.model.initial_q, self.model.initial_v, np.zeros(self.model.nv))
        samples = [(self.data.qpos.copy(), self.data.qvel.copy())]
        with without_log(self.mujoco):
            for _ in range(max(1, round(duration / STEP))):
                self.mujoco.mj_step(self.theirs, self.data)
                if any(warning.number for warning in self.data.warning):
                    self.note = f"stopped at {self.data.time:.3g} s: {UNSTABLE}"
                    break
                samples.append((self.data.qpos.copy(), self.data.qvel.copy()))
        q, v = self.states.here(np.array([x for x, _ in samples]), np.array([y for _, y in samples]), None, None)
        return Trajectory(q, v)
