"""Derivatives by a design through the whole chain on complex numbers: parameters, arrays, accelerations, multipliers, wrenches.

A step of 1e-30 has no error of truncation and none of cancellation. The map from the parameters to the arrays is replayed on
complex numbers, and the recursions run in Python.
"""

from __future__ import annotations

import re

import numpy as np

from bellcrank.dynamics.quantities.measures import measuring
from bellcrank.dynamics.quantities.minimum_norm import mean_square
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.arrays import ARRAYS, VARIABLE
from bellcrank.machine.in_python import InPython
from bellcrank.machine.tangents.data import design_data, design_tangents, from_chunks
from bellcrank.numbers.variable import Replay, depends_on_design, varied

STEP = 1e-30
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


def kind_of(name):
    """What a parameter is: the last word of its path, without the numbers and axes that say which of several."""
    if name.startswith(("parameters.", "gravity.", "initial.")):
        return name.partition(".")[0]
    words = [word for word in name.split(".")[1:] if not re.fullmatch(r"\d+|[xyz]{1,2}", word)]
    return words[-1] if words else "point"


def by_kind(model, most):
    """Names of parameters by what they are, so many of each at most, and from all over the model."""
    kinds = {}
    for name in model.parameters:
        kinds.setdefault(kind_of(name), []).append(name)
    return {kind: names[:: max(1, -(-len(names) // most))] for kind, names in kinds.items() if kind not in ("duration", "step")}


class Chain:
    """A dynamics with a design at a state, and a change of its parameters."""

    def __init__(self, dyn, q, v, inputs=(), t=0.0):
        self.dyn, self.design, model = dyn, dyn.planned.design, dyn.model
        self.held = [name for name, joint in zip(model.joint_names, model.joints, strict=True) if joint.mechanical]
        self.state = {"q": q, "v": v, "tau": np.zeros(len(v)), "t": [t], "u": dyn.input_rows(inputs or None, 1)[0]}

    def data(self, plan, dp):
        """Arrays of a plan along dp, as machine.in_python takes them."""
        p = list(self.design.start + 1j * STEP * dp)
        plain = {name: np.asarray(ARRAYS[name].fill(plan), dtype=float) for name in VARIABLE}
        along = {name: np.zeros((*x.shape, 1)) for name, x in plain.items() if x.size}
        for name, array in plan.recorded.items():
            if name in along:
                mask = varied(array)
                found = np.array(Replay(self.design.recording.tape, array[mask])(p), dtype=complex)
                along[name][mask, 0] = found.imag / STEP
        values = design_data(plan, {name: x for name, x in plain.items() if x.size})
        changes = design_tangents(plan, along, 1)
        return {name: list(x[0] + 1j * STEP * _column(changes.get(f"d_{name}"), x.shape[1])) for name, x in values.items()}

    def run(self, program, data, plan=None, **more):
        given = {name: list(np.asarray(x, dtype=complex)) for name, x in {**self.state, **more}.items()}
        with np.errstate(invalid="ignore", divide="ignore"):  # in what a select leaves aside
            found = InPython(self.dyn.plan if plan is None else plan, program, given, data).run()
        return {name: np.array(x, dtype=complex) for name, x in found.items()}

    def all_of(self, dp):
        """Changes of the acceleration and of the wrenches of all joints of the tree, along dp."""
        data, model = self.data(self.dyn.plan, dp), self.dyn.model
        a = self.run(self.dyn.program, data)["a"]
        code = measuring(self.dyn, [f"{name}.{part}" for name in self.held for part in WRENCH])
        more = {"a": a} | ({"lambda": self.multipliers(data, a, dp)} if model.closures else {})
        measured = self.run(code.program, self.data(code.evaluation.plan, dp), code.evaluation.plan, **more)["measure"]
        return a.imag / STEP, measured[code.columns].imag / STEP

    def multipliers(self, data, a, dp):
        dyn = self.dyn
        found = self.run(QUANTITIES["block_multipliers"], data, a=a)["lambda"]
        return found if dyn.plan.nodes.rank == dyn.equations else self.least(data, a, found, dp)

    def least(self, data, a, found, dp):
        """min |w(lambda)|^2 subject to G^T lambda = G^T found: by Lagrange's equations, with those columns of G that count."""
        dyn, m = self.dyn, self.dyn.equations
        (G,) = self.run(QUANTITIES["closure_jacobian"], data).values()
        G = G.reshape(m, dyn.model.nv)
        G = G[:, np.argsort(-np.abs(np.linalg.qr(G.real)[1].diagonal()))[: dyn.plan.nodes.rank]] if m else G
        w = self.wrenches(a, [found, *(found + np.eye(m))], dp)
        C = np.array([x - w[0] for x in w[1:]]).T
        whole = np.block([[C.T @ C, G], [G.T, np.zeros((G.shape[1],) * 2)]])
        return found + np.linalg.solve(whole, np.concatenate([-C.T @ w[0], np.zeros(G.shape[1])]))[:m]

    def wrenches(self, a, multipliers, dp):
        """At each of some multipliers: of all joints, with their efforts, and of all closures; moments over the size of the mechanism."""
        model = self.dyn.model
        names = [f"{name}.whole" for name in self.held] + [closure.name for closure in model.closures]
        code = measuring(self.dyn, [f"{name}.{part}" for name in names for part in WRENCH])
        data = self.data(code.evaluation.plan, dp)
        w = [self.run(code.program, data, code.evaluation.plan, a=a, **{"lambda": x})["measure"] for x in multipliers]
        square = mean_square(self.design.recording.model)
        if depends_on_design(square):
            (square,) = Replay(self.design.recording.tape, [square])(list(self.design.start + 1j * STEP * dp))
        return np.array(w)[:, code.columns] / np.tile(np.repeat([1.0, np.sqrt(complex(square))], 3), len(names))


def _column(chunks, size):
    if chunks is None:
        return np.zeros(size)
    return from_chunks(np.concatenate([np.zeros((*chunks.shape[:3], 1)), chunks], axis=3), 1)[1][0, :, 0]
