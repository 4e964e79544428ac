"""The Jacobian of the equations of motion, inside a step: columns by the kernel on dual numbers, eight at a time.

    d(dq/dt, dv/dt) = J (d, dv),      dq = E d     (model.manifold: displacements d along the directions of v)

A step calls ``jacobian`` and nothing else; the kernel "tangent" takes one state and DIRECTIONS of its tangents. Lanes are taken
one after the other. Of q and v the two blocks of the acceleration, da/dd and da/dv, are left by their columns in
``by_position`` and ``by_velocity``; of q and p the whole matrix in ``by_position``, laid out as a state is.

Efforts and inputs u(t, q, v) that are functions of the caller's add da/du (du/dd, du/dv), by differences: what the acceleration
at the state itself changes by, when they are asked at a state beside it. It is linear in efforts, so that the error is that of
the differences of u; and a Jacobian that is not exact only costs iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....kernels.executor import Address, Integer
from ....numbers import Number
from ..programs import DIRECTIONS

if TYPE_CHECKING:
    from ..stepper import Stepper

BESIDE = 1e-7  # rad, m, rad/s, m/s: how far beside the state functions are asked


def jacobian(stepper: Stepper, state: Address, t: Number) -> None:
    """The Jacobian at a state and a time; the state is kept in ``linearised``."""
    s, w = stepper, stepper.words
    s.copy(state, w["linearised"])
    s.set_clock(t)
    s.ask(w["linearised"])
    if s.lanes == 1:
        _of_lane(s, 0)
        if not (s.momenta or s.tangents):
            s.e.when(s.e.unequal(w["control"], 0), lambda: _Feedback(s).add())
    else:
        s.e.each(0, s.lanes, lambda lane: _of_lane(s, lane))
    s.add_count("jacobians")


class _Feedback:
    """What functions of the caller's add, direction by direction; rows of stages, which are yet to be computed, are used."""

    def __init__(self, stepper: Stepper):
        self.s, self.w = stepper, stepper.words
        self.beside, self.at_state, self.answer = (self.w["residuals"].at(self.w["state"] * j) for j in range(3))

    def add(self) -> None:
        s, w = self.s, self.w
        self._acceleration(self.at_state)

        def direction(j: Integer) -> None:
            self._column(j, w["by_position"], lambda: self._move_along(j))
            self._column(j, w["by_velocity"], lambda: self._move(w["v_start"] + j, 1.0))

        s.e.each(0, w["nv"], direction)
        s.ask(w["linearised"])

    def _acceleration(self, into: Address) -> None:
        """The acceleration at the state itself, with the efforts and inputs of the last call."""
        w, v_start = self.w, self.w["v_start"]
        given = {"q": w["linearised"], "v": w["linearised"].at(v_start), "tau": w["tau"], "t": w["clock"], "u": w["u"]}
        self.s.call("kernel", given | {"a": into.at(v_start)})

    def _column(self, j: Integer, matrix: Address, move: Callable[[], None]) -> None:
        s, w = self.s, self.w
        s.copy(w["linearised"], self.beside)
        move()
        s.ask(self.beside)
        self._acceleration(self.answer)

        def one(i: Integer) -> None:
            change = s.number(self.answer, w["v_start"] + i) - s.number(self.at_state, w["v_start"] + i)
            at = j * w["stride"] + i
            s.put_number(s.number(matrix, at) + change * (1.0 / BESIDE), matrix, at)

        s.e.each(0, w["nv"], one)

    def _move(self, place: Integer, by: Number) -> None:
        s = self.s
        s.put_number(s.number(self.beside, place) + BESIDE * by, self.beside, place)

    def _move_along(self, j: Integer) -> None:
        """Moves the state by E e_j."""
        s, w = self.s, self.w
        if s.plain_rates:
            self._move(j, 1.0)
            return
        column_of_rates(s, j)
        s.e.each(0, w["nq"], lambda i: self._move(i, s.number(w["aside"], i)))


def column_of_rates(stepper: Stepper, j: Integer) -> None:
    """E e_j, into ``aside``."""
    s, w = stepper, stepper.words
    s.e.each(0, w["nv"], lambda i: s.put_number(0.0, w["unit"], i))
    s.put_number(1.0, w["unit"], j)
    s.call("rates", {"q": w["linearised"], "v": w["unit"], "t": w["clock"], "qdot": w["aside"]})


def _of_lane(stepper: Stepper, lane: Integer) -> None:
    directions = _Directions(stepper, lane)
    directions.along_positions()
    directions.along_speeds()


class _Directions:
    """Directions of one state, that of a lane."""

    def __init__(self, stepper: Stepper, lane: Integer):
        self.s, self.e, self.w, self.lane = stepper, stepper.e, stepper.words, lane
        s, w, speed = stepper, self.w, "p" if stepper.momenta else "v"
        at = w["linearised"]
        given = {"q": at, speed: at.at(w["v_start"]), "tau": w["tau"], "u": w["u"], "t": w["clock"]}
        if s.lanes > 1:
            sizes = {"q": w["nq"], speed: w["nv"], "tau": w["nv"], "u": w["inputs"], "t": 1}
            for name, size in sizes.items():
                own = w[f"lane_{'v' if name == speed else name}"]
                self._copy_lane(given[name], own, size)
                given[name] = own
            for name in (name for name in s.own_data if name in s.arguments["tangent"]):
                self._copy_lane(w[name], w[f"tangent:{name}"], w[f"size:{name}"])
        self.arrays = given | {"d_q": w["seed_q"], f"d_{speed}": w["seed_v"]}
        self.outputs = [("v", 0), ("pdot", w["v_start"])] if s.momenta else [("a", 0)]
        for name, size in (("seed_q", w["nq"]), ("seed_v", w["nv"])):
            self._clear(w[name], size)

    def _place(self, i: Integer) -> Integer:
        """The place of a number of the lane, in doubles."""
        lanes = self.s.lanes
        return i if lanes == 1 else (i * lanes + self.lane)

    def _put(self, x: Any, base: Address, place: Integer) -> None:
        self.e.do("store double $, ptr $, align 8", x, base.at(place))

    def _copy_lane(self, source: Address, to: Address, count: Integer) -> None:
        self.e.each(0, count, lambda i: self._put(self.e.load_double(source, self._place(i)), to, i))

    def _clear(self, base: Address, count: Integer) -> None:
        self.e.each(0, count * DIRECTIONS, lambda i: self._put(self.e.scalar(0.0), base, i))

    def _seed(self, i: Integer, direction: Any) -> Integer:
        return i * DIRECTIONS + direction

    def _in_groups(self, act: Callable[[Callable[[Callable[[Any, Any], None]], None]], None]) -> None:
        """act(over) for each group, with over(one(direction, degree of freedom)); the last group repeats the last one."""
        e, nv = self.e, self.w["nv"]
        last = nv - 1

        def group(g: Any) -> None:
            def over(one: Callable[[Any, Any], None]) -> None:
                def direction(k: Any) -> None:
                    j = g * DIRECTIONS + k
                    one(k, e.smaller(j, last))

                e.each(0, DIRECTIONS, direction)

            act(over)

        e.each(0, (nv + (DIRECTIONS - 1)) // DIRECTIONS, group)

    def along_positions(self) -> None:
        """dq = E e_j."""
        w, plain = self.w, self.s.plain_rates

        def group(over: Callable[[Callable[[Any, Any], None]], None]) -> None:
            if plain:
                over(lambda k, j: self._put(self.e.scalar(1.0), w["seed_q"], self._seed(j, k)))
            else:
                over(self._column_of_rates)
            self._take(w["by_position"], over, 0)
            if plain:
                over(lambda k, j: self._put(self.e.scalar(0.0), w["seed_q"], self._seed(j, k)))

        self._in_groups(group)
        self._clear(w["seed_q"], w["nq"])

    def _column_of_rates(self, k: Any, j: Integer) -> None:
        """E e_j into a direction of seed_q."""
        e, w = self.e, self.w
        column_of_rates(self.s, j)
        e.each(0, w["nq"], lambda i: self._put(e.load_double(w["aside"], self._place(i)), w["seed_q"], self._seed(i, k)))

    def along_speeds(self) -> None:
        w, first = self.w, self.w["v_start"] if self.s.momenta else 0

        def group(over: Callable[[Callable[[Any, Any], None]], None]) -> None:
            over(lambda k, j: self._put(self.e.scalar(1.0), w["seed_v"], self._seed(j, k)))
            self._take(w["by_position" if self.s.momenta else "by_velocity"], over, first)
            over(lambda k, j: self._put(self.e.scalar(0.0), w["seed_v"], self._seed(j, k)))

        self._in_groups(group)

    def _take(self, matrix: Address, over: Callable[[Callable[[Any, Any], None]], None], first: Integer) -> None:
        """Evaluate the tangents of a group: columns of a matrix, which are its rows in memory."""
        s, e, w = self.s, self.e, self.w
        s.call("tangent", self.arrays)

        def column(k: Any, j: Integer) -> None:
            start = (first + j) * w["stride"]
            for name, at in self.outputs:

                def one(i: Integer, name: str = name, at: Integer = at) -> None:
                    found = i * (1 + DIRECTIONS) + k + 1
                    place = self._place(start + at + i)
                    self._put(e.load_double(w[f"buffer:{name}"], found), matrix, place)

                e.each(0, w["nv"], one)

        over(column)
