"""Body-by-body elimination of any tree with any closures, on the model's own tree.

Source: EQUATIONS 3.6, which grew out of Critchley & Anderson. At body j the outboard part is a Form in

    X = (A^j; A^b for every body b further in that an open closure holds; what closures between branches need; pending numbers)

and at each joint A^j = (S^j)^T A^p + P_j u + c_j is put in and u eliminated. Nothing is named dependent in advance: of each
joint those directions are, of which the open equations see more than the threshold; what they hardly see is left pending, which
is the paper's ACS, locally. So bases may move, loops may overlap, and a choice like the five-bar's (3, 4, 5) does not arise.

    closure between a body and its ancestor        equations at the outer one, A of the ancestor stays open on the way
    closure between branches                       Phi_b A^b = y on one branch, Phi_a A^a + y = gamma on the other;
                                                   y is eliminated where the branches meet
    coupler                                        a number s = u for each of its coordinates, carried to where they meet

Equations are scaled to be free of units; lengths count in units of a typical length of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...spatial.rank import RANK_TOLERANCE
from . import report
from .form import (
    Choice,
    Form,
    Name,
    NothingMoves,
    Step,
    Values,
    by_size,
    eliminated,
    equations,
    inertia,
    merged,
    only_pending,
    substituted,
)
from .state import GROUND, Array, Body, Mechanism, Tie

SEEN = 1e-11  # below this an equation does not see a direction at all

Back = Callable[[Values, Array], Array]  # multipliers of a form after a step -> before it


@dataclass
class Elimination:
    mechanism: Mechanism
    threshold: float
    messages: dict[int, list[tuple[int, Form]]] = field(default_factory=dict)  # to each body: from which child, what
    steps: dict[int, list[Back]] = field(default_factory=dict)
    nu: dict[int, Array] = field(default_factory=dict)  # multipliers of the equations in a body's message
    found: list[report.Choice] = field(default_factory=list)
    residual: float = 0.0
    dropped: int = 0  # equations that were redundant

    def __post_init__(self) -> None:
        m = self.mechanism
        self.multipliers = np.zeros(int(m.model.closure_index[-1]))
        self.weights = m.weights
        self.attached: dict[int, list[tuple[int, Form, Array | None]]] = {}  # at each body: closure, equations, their scales
        self.meets: dict[int, list[Name]] = {}  # where branches meet: what is eliminated there
        self.coupled: dict[int, list[int]] = {}  # at each body: couplers that end there
        for number, tie in enumerate(m.ties):
            self._take_hold(number, tie)

    # Attachment of closures ---------------------------------------------------------------------------------------------

    def _take_hold(self, number: int, tie: Tie) -> None:
        if tie.terms:
            self.coupled.setdefault(self._meeting([body for body, _, _ in tie.terms]), []).append(number)
            return
        scale = 1 / np.linalg.norm(tie.Phi_b * self.weights, axis=1)
        Phi_a, Phi_b, gamma = tie.Phi_a * scale[:, None], tie.Phi_b * scale[:, None], tie.gamma * scale
        meeting = self._meeting([tie.a, tie.b])
        if meeting in (tie.a, tie.b):
            outer = tie.a if meeting == tie.b else tie.b
            rows_of = {k: Phi for k, Phi in ((tie.a, Phi_a), (tie.b, Phi_b)) if k != GROUND}
            form = equations({("A", k): Phi for k, Phi in rows_of.items()}, gamma)
            self.attached.setdefault(outer, []).append((number, form, scale))
            return
        y, unit = ("y", number), np.eye(len(gamma))
        self.meets.setdefault(meeting, []).append(y)
        for body, Phi, sign, right, wanted in ((tie.a, Phi_a, 1.0, gamma, scale), (tie.b, Phi_b, -1.0, 0 * gamma, None)):
            form = equations({("A", body): Phi, y: sign * unit}, right)
            self.attached.setdefault(body, []).append((number, form, wanted))

    def _meeting(self, bodies: list[int]) -> int:
        """The outermost body that carries all of them, or is one of them."""
        paths = [self.mechanism.ancestors(k) for k in bodies]
        return next(k for k in paths[0] if all(k in path for path in paths))

    # Inward -------------------------------------------------------------------------------------------------------------

    def inward(self) -> None:
        for j in reversed(range(len(self.mechanism.bodies))):
            self._body(j)
        form = self._gathered(GROUND, [])
        form = self._closing_branches(GROUND, form)
        form = self._couplers(GROUND, form)
        form = self._settle(GROUND, form)
        assert not form.sizes

    def _body(self, j: int) -> None:
        body = self.mechanism.bodies[j]
        form = self._gathered(j, [inertia(("A", j), body.I, body.Q)])
        form = self._closing_branches(j, form)
        new = {("u", j): body.P} | ({("A", body.parent): body.ST} if body.parent != GROUND else {})
        form = substituted(form, ("A", j), new, body.c)
        self.steps[j].append(self._moved(j, body))
        form = merged([form, inertia(("u", j), np.diag(body.J), body.tau)])
        form = self._coupled_coordinates(j, form)
        form = self._couplers(j, form)
        form = self._joint(j, body, form)
        form = self._settle(j, form)
        self.messages.setdefault(body.parent, []).append((j, form))

    def _moved(self, j: int, body: Body) -> Back:
        def back(values: Values, nu: Array) -> Array:
            carried = body.ST @ values["A", body.parent] if body.parent != GROUND else 0.0
            values["A", j] = carried + body.P @ values["u", j] + body.c
            return nu

        return back

    def _gathered(self, j: int, own: list[Form]) -> Form:
        """The sum of what the children send, the body's inertia, and closures that are attached here."""
        received, attached = self.messages.get(j, []), self.attached.get(j, [])
        form = merged([*own, *(message for _, message in received), *(rows for _, rows, _ in attached)])
        self.steps[j] = [self._sharing(received, attached)]
        return form

    def _sharing(self, received: list[tuple[int, Form]], attached: list[tuple[int, Form, Array | None]]) -> Back:
        def back(values: Values, nu: Array) -> Array:
            start = 0
            for child, message in received:
                self.nu[child] = nu[start : start + len(message.e)]
                start += len(message.e)
            for number, rows, scale in attached:
                if scale is not None:
                    first = self.mechanism.ties[number].first
                    self.multipliers[first : first + len(scale)] = nu[start : start + len(scale)] * scale
                start += len(rows.e)
            return nu

        return back

    def _closing_branches(self, j: int, form: Form) -> Form:
        for name in self.meets.get(j, []):
            form = self._eliminated(
                j, form, [name], np.ones(form.sizes[name]), f'closure "{self.mechanism.ties[name[1]].name}"'
            )
        return form

    def _coupled_coordinates(self, j: int, form: Form) -> Form:
        """s = u for the coordinates of this joint that couplers name, in the joint's own scale."""
        scale = self._scale(self.mechanism.bodies[j])
        for number, tie in enumerate(self.mechanism.ties):
            for k, (body, dof, _) in enumerate(tie.terms):
                if body == j:
                    row = np.zeros((1, len(scale)))
                    row[0, dof] = 1 / scale[dof]
                    more = equations({("u", j): row, ("s", number, k): np.array([[-1.0]])}, np.zeros(1))
                    form = self._with(j, form, more, None)
        return form

    def _couplers(self, j: int, form: Form) -> Form:
        for number in self.coupled.get(j, []):
            tie = self.mechanism.ties[number]
            factors = [f * self._scale(self.mechanism.bodies[body])[dof] for body, dof, f in tie.terms]
            names: list[Name] = [("s", number, k) for k in range(len(factors))]
            size = float(1 / np.linalg.norm(factors))
            rows = equations({name: np.array([[f * size]]) for name, f in zip(names, factors, strict=True)}, tie.gamma * size)
            form = self._with(j, form, rows, (tie.first, size))
            form = self._eliminated(j, form, names, np.ones(len(names)), f'coupler "{tie.name}"')
        return form

    def _with(self, j: int, form: Form, more: Form, wanted: tuple[int, float] | None) -> Form:
        """The form with one more equation, whose multiplier may be wanted."""

        def back(values: Values, nu: Array) -> Array:
            if wanted is not None:
                self.multipliers[wanted[0]] = nu[-1] * wanted[1]
            return nu[:-1]

        self.steps[j].append(back)
        return merged([form, more])

    def _scale(self, body: Body) -> Array:
        return 1 / self.mechanism.size(body.P)

    def _joint(self, j: int, body: Body, form: Form) -> Form:
        """Dependent, pending and free directions of a joint."""
        return self._eliminated(j, form, [("u", j)], self._scale(body), body.joint)

    def _eliminated(self, j: int, form: Form, names: list[Name], scale: Array, what: str) -> Form:
        choice, sizes = by_size(form.columns(names), scale, self.threshold, SEEN)
        for s in sizes[sizes > SEEN]:
            self.found.append(report.Choice(what, min(1.0, float(s)), pending=not s > self.threshold))
        return self._keep(j, form, names, choice, ("w", j, names[0]), what)

    def _keep(self, j: int, form: Form, names: list[Name], choice: Choice, pending: Name, what: str) -> Form:
        motions = {name: self.weights for name in form.sizes if name[0] == "A"}
        try:
            step: Step = eliminated(form, names, choice, pending, motions, RANK_TOLERANCE, self.mechanism.nothing)
        except NothingMoves:
            raise report.massless(what) from None
        self.residual = max(self.residual, step.residual)
        self.dropped += step.choice.U_0.shape[1] - step.C.shape[1]
        self.steps[j].append(step.back)
        return step.after

    def _settle(self, j: int, form: Form) -> Form:
        """Pending numbers that can be decided on now."""
        names: list[Name] = [name for name in form.sizes if name[0] == "w"]
        if not names:
            return form
        others = form.others(names)
        weight = np.concatenate([*(self.weights if n[0] == "A" else np.ones(form.sizes[n]) for n in others), np.zeros(0)])
        choice = only_pending(form.columns(names), form.columns(others) * weight, SEEN, RANK_TOLERANCE)
        if choice is None:
            return form
        return self._keep(j, form, names, choice, ("w", j, "settled"), self.mechanism.name(j))

    # Outward ------------------------------------------------------------------------------------------------------------

    def outward(self) -> Array:
        a, values = np.zeros(self.mechanism.model.nv), Values()
        self._back(GROUND, values, np.zeros(0))
        for j, body in enumerate(self.mechanism.bodies):
            self._back(j, values, self.nu[j])
            a[body.first : body.first + len(body.J)] = values["u", j]
        return a

    def _back(self, j: int, values: Values, nu: Array) -> None:
        for back in reversed(self.steps[j]):
            nu = back(values, nu)


def accelerations(mechanism: Mechanism, threshold: float) -> report.Reduced:
    sweep = Elimination(mechanism, threshold)
    sweep.inward()
    a = sweep.outward()
    return report.Reduced(
        "body", a, sweep.multipliers, tuple(sweep.found), len(sweep.multipliers) - sweep.dropped, sweep.residual
    )
