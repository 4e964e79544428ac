"""The rows of closures in the steps of the midpoint rule (closed.py): G and M^-1 G^T, errors, and the equations of pushes.

word           meaning                                                          numbers
rows_at_start  G at the start of a part, rows that are kept, without units      rows x nv
rows_at_end    the same at its end, approximately                               rows x nv
responses      M^-1 G^T at the start, row by row                                rows x nv
at_rest        velocities that prescribed motions give to a tree without momenta
"""

from __future__ import annotations

from typing import Any

from ....kernels.executor import Address, Integer
from ....numbers import Number, maximum
from ..fixed import FixedStepper
from .carried import error_of_rest
from .chosen_rows import choose_rows, put_row

ROUNDED = 0.01  # for each radian or metre of the largest coordinate: what its rounding adds to such changes and errors


class ClosureRows(FixedStepper):
    def rows_and_responses(self, state: Address, t: Number, *, choose: Any = "false") -> None:
        """``rows_at_start`` and ``responses`` at a state; where the bit ``choose`` is set, the kept rows are chosen there."""
        e, w = self.e, self.words
        self.take_rows(state, t, w["rows_at_start"], choose=choose)
        self._velocities_at_rest(state)

        def one(r: Integer) -> None:
            at = r * w["kept_row_width"]
            self.call("tree_velocities", {"q": state, "p": w["rows_at_start"].at(at), "t": w["clock"], "v": w["buffer:v"]})

            def put(j: Integer) -> None:
                moved = self.number(w["buffer:v"], j) - self.number(w["at_rest"], j)
                self.put_number(moved, w["responses"], at + j)

            e.each(0, w["nv"], put)

        e.each(0, w["kept_count"], one)

    def _velocities_at_rest(self, state: Address) -> None:
        """``at_rest`` where joints are driven: velocities are M^-1 p and those of a tree whose momenta are zero."""
        if self.driven:
            w = self.words
            self.call("tree_velocities", {"q": state, "p": w["no_momenta"], "t": w["clock"], "v": w["at_rest"]})

    def take_rows(self, state: Address, t: Number, into: Address, *, choose: Any = "false") -> None:
        """The kept rows of G at a state."""
        e, w = self.e, self.words
        self.set_clock(t)
        self.call("closure_jacobian", {"q": state, "v": state.at(w["v_start"]), "t": w["clock"]})
        if choose != "false":
            e.when(choose, lambda: choose_rows(self))
        e.each(0, w["kept_count"], lambda r: put_row(self, w["kept_rows"].integer(r), into, r))

    def errors(self, state: Address, t: Number, column: int) -> Number:
        """Errors of the kept closures (column 0) or their rates (1) into ``rows_right``; the largest of them."""
        e, w = self.e, self.words
        self.set_clock(t)
        if column == 1:
            self.velocities_of(state)
        self.call("closure", {"q": state, "v": w["buffer:v"], "t": w["clock"]})

        def one(r: Integer, largest: list[Number]) -> list[Number]:
            row = w["kept_rows"].integer(r)
            place = row * 2 + column
            error = self.number(w["row_scale"], row) * self.number(w["buffer:closure"], place)
            if column == 0:
                error = error + error_of_rest(self, w["rows_at_end"], r)
            self.put_number(error, w["rows_right"], r)
            return [maximum(largest[0], abs(error))]

        return self.largest(e.fold(0, w["kept_count"], [0.0], one)[0]) / self.known_to(state)

    # linear equations -----------------------------------------------------------------------------------------------

    def form(self, rows: Address, scale: Number) -> None:
        """S = scale rows responses^T, by its columns, factored."""
        e, w = self.e, self.words
        width = self.vectors("kept_row_width")

        def column(c: Integer) -> None:
            def entry(r: Integer) -> None:
                def product(i: Integer) -> Number:
                    one, other = (x * width + i for x in (r, c))
                    return rows[one] * w["responses"][other]

                dot = self.added_up(self.folded(0, width, product, lambda a, b: a + b))
                self.put_number(scale * dot, w["rows_upper"], c * w["rows_stride"] + r)

            e.each(0, w["kept_count"], entry)

        e.each(0, w["kept_count"], column)
        arrays, sizes = self._matrix()
        e.do(f"call void @factor_1({arrays}, {sizes})")
        e.forget()

    def solve(self, right: Address) -> None:
        arrays, sizes = self._matrix()
        self.e.do(f"call void @solve_1({arrays}, ptr {right}, {sizes})")
        self.e.forget()

    def less(self, rows: Address, factors: Address, state: Address, scale: Number) -> None:
        """Momenta of a state less scale times the sum of rows, each with its factor."""
        e, w = self.e, self.words
        p, width = state.at(w["v_start"]), self.vectors("kept_row_width")

        def entry(i: Integer) -> Number:
            pushed = e.total(0, w["kept_count"], lambda r: self.number(factors, r) * rows[r * width + i])
            return p[i] - scale * pushed

        self.fill(p, entry, 0, width)

    def known_to(self, state: Address) -> Number:
        """A crank that has gone round a thousand times is known to fewer digits: by how much more a change may be rounding."""
        largest = self.folded(0, self.vectors("v_start"), lambda i: abs(state[i]), maximum)
        return 1.0 + ROUNDED * self.largest(largest)

    def _matrix(self) -> tuple[str, str]:
        """The arrays and sizes of S, as arguments."""
        w = self.words
        arrays = ", ".join(f"ptr {w[name]}" for name in ("rows_upper", "rows_below", "rows_diagonal", "rows_pivots"))
        return arrays, ", ".join(f"i64 {w[name]}" for name in ("kept_count", "rows_stride", "rows_chunks"))
