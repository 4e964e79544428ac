"""The rows of closures in the steps of the midpoint rule (closed.py): G and M^-1 G^T, errors, and the equations of pushes.

word        meaning                                                          numbers
held        G at the start of a part, rows that are kept, without units      rows x nv
held_there  the same at its end, about                                       rows x nv
yields      M^-1 G^T at the start, row by row                                rows x nv
at_rest     velocities that prescribed motions give to a tree without momenta
"""

from __future__ import annotations

from ....kernels.llvm.flow import each, total, when
from ....numbers import Number, maximum
from ..fixed import FixedStepper
from .carried import error_of_rest
from .chosen_rows import choose_rows, put_row

ROUNDED = 0.01  # for each radian or metre of the largest coordinate: what its rounding adds to such changes and errors


class ClosureRows(FixedStepper):
    def held_rows(self, state: str, t: Number, *, choose: str = "false") -> None:
        """``held`` and ``yields`` at a state; where the bit ``choose`` is set, the rows that are kept are chosen there."""
        e, w = self.e, self.words
        self.take_rows(state, t, w["held"], choose=choose)
        self._velocities_at_rest(state)

        def one(r: str) -> None:
            at = e.integer("mul", r, w["held_width"])
            self.call("tree_velocities", {"q": state, "p": e.pointer(w["held"], at), "t": w["clock"], "v": w["buffer:v"]})

            def put(j: str) -> None:
                moved = self.number(w["buffer:v"], j) - self.number(w["at_rest"], j)
                self.put_number(moved, w["yields"], e.integer("add", at, j))

            each(e, 0, w["nv"], put)

        each(e, 0, w["order"], one)

    def _velocities_at_rest(self, state: str) -> None:
        """Where joints are driven, velocities are M^-1 p and those of a tree whose momenta are zero."""
        if "powers" in self.called:  # there are prescribed motions
            w = self.words
            self.call("tree_velocities", {"q": state, "p": w["no_momenta"], "t": w["clock"], "v": w["at_rest"]})

    def take_rows(self, state: str, t: Number, into: str, *, choose: str = "false") -> None:
        """The kept rows of G at a state."""
        e, w = self.e, self.words
        self.set_clock(t)
        self.call("closure_jacobian", {"q": state, "v": e.pointer(state, w["v_start"]), "t": w["clock"]})
        if choose != "false":
            when(e, choose, lambda: choose_rows(self))
        each(e, 0, w["order"], lambda r: put_row(self, e.load_int(w["kept_rows"], r), into, r))

    def errors(self, state: str, t: Number, column: int) -> Number:
        """Errors of the kept closures (column 0) or their rates (1) into ``right``; the largest of them."""
        e, w = self.e, self.words
        self.set_clock(t)
        if column == 1:
            arrays = {"q": state, "p": e.pointer(state, w["v_start"]), "t": w["clock"], "v": w["buffer:v"]}
            self.call("tree_velocities", arrays)
        self.call("closure", {"q": state, "v": w["buffer:v"], "t": w["clock"]})

        def one(r: str, largest: str) -> str:
            row = e.load_int(w["kept_rows"], r)
            place = e.integer("add", e.integer("mul", row, 2), column)
            error = self.number(w["row_scale"], row) * self.number(w["buffer:closure"], place)
            if column == 0:
                error = error + error_of_rest(self, w["held_there"], r)
            self.put_number(error, w["right"], r)
            return e.operand(maximum(e.symbol(largest), abs(error)))

        largest = self.largest(total(e, 0, w["order"], e.constant(0.0), one))
        return largest / self.known_to(state)

    # linear equations -----------------------------------------------------------------------------------------------

    def form(self, rows: str, scale: Number) -> None:
        """S = scale rows yields^T, by its columns, factored."""
        e, w = self.e, self.words
        width = self.vectors("held_width")

        def column(c: str) -> None:
            def entry(r: str) -> None:
                def product(i: str) -> Number:
                    one, other = (e.integer("add", e.integer("mul", x, width), i) for x in (r, c))
                    return self.get(rows, one) * self.get(w["yields"], other)

                dot = self.added_up(self.folded(0, width, product, lambda a, b: a + b))
                self.put_number(scale * dot, w["upper"], e.integer("add", e.integer("mul", c, w["stride"]), r))

            each(e, 0, w["order"], entry)

        each(e, 0, w["order"], column)
        arrays = ", ".join(f"ptr {w[name]}" for name in ("upper", "below", "diagonal", "pivots"))
        e.do(f"call void @factor_1({arrays}, i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']})")
        e.forget()

    def solve(self, right: str) -> None:
        e, w = self.e, self.words
        arrays = ", ".join(f"ptr {w[name]}" for name in ("upper", "below", "diagonal", "pivots"))
        e.do(f"call void @solve_1({arrays}, ptr {right}, i64 {w['order']}, i64 {w['stride']}, i64 {w['row_chunks']})")
        e.forget()

    def less(self, rows: str, factors: str, state: str, scale: Number) -> None:
        """Momenta of a state less scale times the sum of rows, each with its factor."""
        e, w = self.e, self.words
        p, width = e.pointer(state, w["v_start"]), self.vectors("held_width")

        def one(i: str) -> None:
            def add(r: str, found: str) -> str:
                at = e.integer("add", e.integer("mul", r, width), i)
                return e.operand(e.symbol(found) + self.number(factors, r) * self.get(rows, at))

            pushed = total(e, 0, w["order"], e.constant(0.0), add)
            e.store(self.get(p, i) - scale * e.symbol(pushed), p, i)

        each(e, 0, width, one)

    def known_to(self, state: str) -> Number:
        """A crank that has gone round a thousand times is known to fewer digits: by how much more a change may be rounding."""
        largest = self.folded(0, self.vectors("v_start"), lambda i: abs(self.get(state, i)), maximum)
        return 1.0 + ROUNDED * self.largest(largest)
