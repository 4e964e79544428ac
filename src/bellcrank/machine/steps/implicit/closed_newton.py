"""Newton's method for the midpoint rule of closed loops (closed.py), where forces are too stiff for its simpler iterations.

A run begins with fixed-point iterations for the slopes k, which cost least. The first part of a step that these do not solve,
and all later parts, are solved with the Jacobian J of Hamilton's equations of the open tree:

    k <- k + (1 - h/2 J)^-1 (slopes - k)
    S = h^2 G(q_n+1) X,   X = the coordinates of (1 - h/2 J)^-1 J (0, G(q_n)^T)        what the slopes yield to the pushes

which for short steps is M^-1 G^T, as in closed.py. The Jacobian is kept from step to step until the iterations become slow. It
only decides how many of these there are: the equations that are solved are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....kernels.executor import Integer
from ....numbers import Number, maximum
from ..declared import FRESH, OLD, TO_RENEW
from .newton import Newton

if TYPE_CHECKING:
    from .closed import ClosedMidpointStepper

MOST_SIMPLE = 40  # fixed-point iterations of a part; then Newton's method begins
PATIENCE = 15  # iterations with an old Jacobian, which is then taken again
MANY_ITERATIONS = 10  # after so many it is taken again at the next part


class ClosedNewton:
    def __init__(self, stepper: ClosedMidpointStepper):
        self.s, self.e, self.w, self.newton = stepper, stepper.e, stepper.words, Newton(stepper)

    @property
    def used(self) -> Any:
        return self.s.any(self.s.real("by_newton") > 0.5)

    def prepare(self, t: Number, h: Number) -> None:
        """The matrices of a part that begins at ``origin``, and what the slopes yield to pushes there."""
        s, e = self.s, self.e
        e.when(s.any(s.real("jacobian") >= TO_RENEW), lambda: self._linearise(t))
        other = (s.real("factored") < h) | (s.real("factored") > h)
        e.when(s.any(other), lambda: self._factor(h))
        e.each(0, self.w["kept_count"], lambda r: self._yield(r, h))

    def _linearise(self, t: Number) -> None:
        self.newton.linearise(self.w["origin"], t)
        self.s.set_real("jacobian", FRESH)
        self.s.set_real("factored", 0.0)

    def _factor(self, h: Number) -> None:
        self.newton.factor(h)
        self.s.set_real("factored", h)

    def _yield(self, r: Integer, h: Number) -> None:
        """Since h/2 (1 - h/2 J)^-1 J = (1 - h/2 J)^-1 - 1, and the rows have no coordinates, no product with J is needed."""
        s, e, w = self.s, self.e, self.w
        row, at = self.newton.row("modes", 0), r * w["kept_row_width"]
        s.fill(row, lambda i: 0.0, 0, w["controlled"])
        e.each(0, w["nv"], lambda j: s.put_number(s.number(w["rows_at_start"], at + j), row, w["v_start"] + j))
        self.newton.solve_one(h, row)
        e.each(0, w["nv"], lambda j: s.put_number(2.0 / h * s.number(row, j), w["responses"], at + j))

    def correct(self, h: Number) -> None:
        """Turns ``residuals``, which are slopes at k, into the next k."""
        s, w, k = self.s, self.w, self.s.k[0]
        slopes = w["residuals"]
        s.fill(slopes, lambda i: slopes[i] - k[i], 0, w["controlled"])
        self.newton.correct(h)
        s.fill(slopes, lambda i: k[i] + slopes[i], 0, w["controlled"])

    def watch(self, t: Number, h: Number) -> None:
        """After an iteration: where they do not end, Newton's method begins, or takes a new Jacobian."""
        s, e = self.s, self.e
        simple = s.all_of(s.holds("iterations", MOST_SIMPLE), s.any(s.real("by_newton") < 0.5))
        e.when(simple, lambda: self._begin(t, h))
        old = s.all_of(s.holds("iterations", PATIENCE), self.used, s.any(s.real("jacobian") >= OLD))
        e.when(old, lambda: self._renew(t, h))

    def _begin(self, t: Number, h: Number) -> None:
        """Begins with the slopes at the start of the part, and without pushes."""
        s, e, w = self.s, self.e, self.w
        s.set_real("by_newton", 1.0)
        s.slopes_at_start(t)
        e.each(0, w["kept_count"], lambda r: s.put_number(0.0, w["pushes"], r))
        s.begin_iterations()
        self._renew(t, h)

    def _renew(self, t: Number, h: Number) -> None:
        self.s.set_real("jacobian", TO_RENEW)
        self.prepare(t, h)
        self.s.form(self.w["rows_at_start"], h * h)

    def age(self) -> None:
        """After a part."""
        s, e = self.s, self.e
        s.set_real("jacobian", maximum(s.real("jacobian"), OLD))
        e.when(s.count("iterations") > MANY_ITERATIONS, lambda: s.set_real("jacobian", TO_RENEW))
