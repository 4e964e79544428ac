"""Forward derivatives along the very steps that an adjoint went back through, in plain numpy: what an adjoint is compared with.

Forward derivatives that are integrated with a run are computed with other kernels, whose values differ by rounding; over
hundreds of steps with cuts that is enough for the control of the step to decide otherwise, after which the two are derivatives
of different sums. Here every accepted step that the adjoint has written down is differentiated as it stands: its stages, the
linear equations of an implicit method, dense output at samples, and the way back onto the closures. For methods that adapt
their steps, in q and v; with steps of a fixed length both ways take the same ones anyway.
"""

from __future__ import annotations

import numpy as np

import bellcrank as bc
from bellcrank.dynamics.differentiation import Changes, derivatives
from bellcrank.dynamics.dynamics import Dynamics
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.adjoint.retrace import Retraced
from bellcrank.machine.steps.layout import VECTOR
from bellcrank.machine.steps.programs import projections
from bellcrank.model.manifold import turning_joints
from bellcrank.run.arguments import sample_times
from bellcrank.studies.adjoint.backward import Backward
from bellcrank.studies.history import History, ScaledDesign, on_closures
from bellcrank.studies.output_names import parsed
from bellcrank.studies.starting import first_tangents
from bellcrank.studies.taking import moments, taken


class Replay:
    """Steps of one stretch of a run, with their tangents (nq + nv, parameters)."""

    def __init__(self, stretch, scaled: ScaledDesign, retraced: Retraced, project: bool):
        self.dyn, self.scheme, self.start = stretch.dyn, stretch.scheme, stretch.start
        self.scaled, self.retraced, self.log = scaled, retraced, stretch.log
        self.project, self.data = project, scaled.data(stretch.dyn.plan)
        self.nq, self.nv = self.dyn.model.nq, self.dyn.model.nv

    def changes(self, dy) -> Changes:
        return Changes(dy.shape[1], {"q": dy[None, : self.nq], "v": dy[None, self.nq :]}, self.data)

    def slope(self, y, dy, t):
        """f, and its changes along those of the state and of the data."""
        rows = {"q": y[None, : self.nq], "v": y[None, self.nq :], "tau": self.start["tau"][None]}
        a = derivatives(self.dyn, self.dyn.program, rows, self.changes(dy), t, self.start["u"])["a"]
        alone = Changes(dy.shape[1], self.changes(dy).inputs)
        rates = derivatives(self.dyn, QUANTITIES["rates"], rows, alone)["qdot"]
        return np.concatenate([rates.value[0], a.value[0]]), np.concatenate([rates.along[0], a.along[0]])

    def jacobian(self, y, t):
        data, self.data = self.data, {}
        found = self.slope(y, np.eye(self.nq + self.nv), t)[1]
        self.data = data
        return found

    def stages(self, row, dy):
        """dk of all stages, (stages, nq + nv, parameters)."""
        t, h, first, latest = row[:VECTOR]
        y, A, c = self.state(row), self.retraced.table, self.retraced.c
        if self.scheme.implicit:
            return self.implicit_stages(row, dy)
        k, dk = np.zeros((len(c), len(y))), np.zeros((len(c), *dy.shape))
        for i in range(len(c)):
            time = first if i == 0 else min(t + c[i] * h, latest)
            k[i], dk[i] = self.slope(y + h * A[i] @ k, dy + h * np.tensordot(A[i], dk, 1), time)
        return dk

    def implicit_stages(self, row, dy):
        """(1 - h A (x) J) dk = f_y dy + f_p, with the Jacobian of every stage."""
        (t, h, _, latest), y = row[:VECTOR], self.state(row)
        A, c = np.array(self.scheme.A), np.array(self.scheme.c)
        size, width = len(y), self.retraced.state
        k = np.array([self.state(row[width * (1 + i) :]) for i in range(len(c))])
        matrix, right = np.eye(len(c) * size), np.zeros((len(c) * size, dy.shape[1]))
        for i in range(len(c)):
            at, time, here = y + h * A[i] @ k, min(t + c[i] * h, latest), slice(i * size, (i + 1) * size)
            matrix[here] -= h * np.kron(A[i], self.jacobian(at, time))
            right[here] = self.slope(at, dy, time)[1]
        return _solved(matrix, right).reshape(len(c), *dy.shape)

    def state(self, row):
        y = row[VECTOR:]
        return np.concatenate([y[: self.nq], y[self.retraced.v_start :][: self.nv]])

    def run(self, times, dy):
        """Tangents at the samples, in order, and after the last step."""
        found, rows = [], np.vstack([rows[:-1] for rows in list(self.log.backward())[::-1]])
        ends = np.append(rows[1:, 0], np.inf)
        states = [*map(self.state, rows[1:]), None]
        for row, end, after in zip(rows, ends, states, strict=True):
            dk, h = self.stages(row, dy), row[1]
            inside = times[len(found) :][times[len(found) :] <= end]
            for time in inside:
                found.append(dy + np.tensordot(self.weights((time - row[0]) / h) * h, dk, 1))
            dy = dy + h * np.tensordot(self.retraced.arrays["b"], dk, 1)
            dy = self.corrected(self.last_state() if after is None else after, row[0] + h, dy)
        return found, dy

    def last_state(self):
        return self.state(next(iter(self.log.backward()))[-1])

    def weights(self, x):
        """Of dense output, at a part of a step."""
        found, dense = np.zeros(len(self.retraced.c)), np.array(self.scheme.dense)[: len(self.retraced.c)]
        found[: len(dense)] = dense @ x ** np.arange(1, dense.shape[1] + 1)
        return found

    def corrected(self, y, t, dy):
        """Onto the closures, and at right angles to quaternions, at the state after the step."""
        dyn, nq = self.dyn, self.nq
        if self.project:
            rows, programs = {"q": y[None, :nq], "v": y[None, nq:]}, projections("minimum_norm", dyn.plan)
            dx = derivatives(dyn, programs["positions"], rows, self.changes(dy), t)["dx"].along
            still = Changes(dy.shape[1], {"q": np.zeros_like(dy[None, :nq]), "v": dx})
            at_rest = rows | {"v": np.zeros_like(rows["v"])}
            dq = dy[:nq] + derivatives(dyn, QUANTITIES["rates"], at_rest, still)["qdot"].along[0]
            dy = np.concatenate([dq, dy[nq:]])
            dv = derivatives(dyn, programs["velocities"], rows, self.changes(dy), t)["dv"].along[0]
            dy = np.concatenate([dq, dy[nq:] + dv])
        for at in turning_joints(dyn.model):
            g = y[at.quaternion]
            dy[at.quaternion] -= np.outer(g, g @ dy[at.quaternion])
        return dy


def _solved(matrix, right):
    """With the rounding of the elimination mended: pressures and angles make matrices with entries of very different size."""
    found = np.linalg.solve(matrix, right)
    left = right.astype(np.longdouble) - matrix.astype(np.longdouble) @ found.astype(np.longdouble)
    return found + np.linalg.solve(matrix, left.astype(float))


def gradients(model, names, outputs, duration, *, step, method, rtol=1e-8):
    """Gradients by the adjoint, and by the replay of its steps: {output: (parameters,)} each, and how many steps there were."""
    design, whole = bc.Design(model, names), float(duration)
    dyn, wanted = Dynamics(model, "auto", optimisation=0, design=design), parsed(outputs, [], whole)
    grid = sample_times(whole, step)
    first = bc.simulate(model, whole, step=step, method=method, rtol=rtol, atol=rtol)
    when, given = moments(wanted, grid, first), {"q": None, "v": None, "tau": None, "u": None}
    backward = Backward(dyn, design, given, method, (rtol, rtol, None), "minimum_norm")
    history, found = backward.run_and_back(wanted, (), when, None)
    adjoint = {name: x.along for name, x in found.items()}
    forward = taken(model, wanted, (), replayed(backward, history), when)
    return adjoint, {name: x.along for name, x in forward.items()}, history.outcome.counts["steps"]


def replayed(backward: Backward, history: History) -> History:
    """The same run with tangents at all samples."""
    dyn, scaled, start = backward.stretches[0].dyn, ScaledDesign.of(backward.design), history.start
    written = scaled.design.tangents(scaled.design.start, dyn.plan)
    written = {name: x * scaled.size for name, x in written.items()}
    dy = np.concatenate(first_tangents(dyn, start, backward.given, scaled.changes(dyn.plan), written))
    samples, times = [dy], history.times
    for k, stretch in enumerate(backward.stretches):
        last = backward.stretches[k + 1].begins if k + 1 < len(backward.stretches) else np.inf
        here = times[(times > stretch.begins) & (times <= last)]
        loops = backward.loops
        replay = Replay(stretch, scaled, stretch.retraced(loops), bool(dyn.model.closures) and loops.project)
        found, dy = replay.run(here, dy)
        samples += found
    along = np.array(samples)
    outcome = history.outcome._replace(dq=along[:, : dyn.model.nq], dv=along[:, dyn.model.nq :])
    projected = bool(dyn.model.closures) and backward.loops.project
    outcome = on_closures(dyn, scaled, outcome) if projected else outcome
    return History(outcome, history.stretches, start, scaled.size)
