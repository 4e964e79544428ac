"""The adjoint of steps of the midpoint rule for closed loops (steps.implicit.closed).

A part of a step takes (q, p) to (q', p'), with F the slopes in the middle T0 and T1 its end, as in turning.py:

    p~ = p - h G(q)^T lambda,   k = F(T0(y~, k)),   (q', p^) = T1(y~, k),   phi(q') = 0
    p' = p^ - G(q')^T mu,       r(q', p') = 0       rates of the closures, with the velocities of the open tree

What the pushes lambda and mu do to an adjoint is that it must not change with them. Backward, with bars for adjoints,

    p^* = p'* + r_p^T s          s so that  G(q') p^* = 0;       q'* += r_q^T s - (d/dq' of p^*.G(q')^T mu)
    y~*, k*  from  T1^T (q'* + phi_q^T n, p^*)
    m - T0_k^T F^T m = k*,  y~* += T0_y^T F^T m                  m and n at once, so that  G(q) p~* = 0
    y* = y~*,  q* -= h (d/dq of p~*.G(q)^T lambda)

and the same of the data. Rows that are kept, lambda and mu are those of the run (log.py). Where some equations depend on the
others it does not matter which are kept, as long as the design keeps them dependent.

word          meaning                                                          numbers
kept_places   numbers of the rows that are kept                                rows
rows_at_start G at the start of every part                                      parts x rows x nv
rows_at_end   the same at its end                                              parts x rows x nv
responses     M^-1 G^T at its end                                              parts x rows x nv
pushed        the state after the first push, and after T1, of every part      a state each
"""

from __future__ import annotations

from collections.abc import Callable

from ...kernels.llvm.emitter import Int
from ...kernels.llvm.flow import each, total
from ...numbers import Number
from ..steps.layout import VECTOR
from .turning import TurningRetrace


class ClosedRetrace(TurningRetrace):
    @property
    def packed(self) -> Int:
        return self.words["packed"]

    # forward ---------------------------------------------------------------------------------------------------------------

    def stages(self, row: str, y: str, h: Number, stages: str, n: str) -> str:
        e, w = self.e, self.words
        behind = e.integer("add", VECTOR, e.integer("mul", w["state"], 1 + len(self.method.parts)))
        self.rows_noted = e.pointer(row, behind)
        self.tapes: dict[tuple[str, int], str] = {}

        def kept(r: str) -> None:
            number = e.emit("load double, ptr $, align 8", e.pointer(self.rows_noted, r))
            e.do("store i64 $, ptr $, align 8", e.emit("fptosi double $ to i64", number), e.pointer(w["kept_places"], r))

        each(e, 0, w["kept_count"], kept)
        return super().stages(row, y, h, stages, n)

    def part(
        self, part: int, start: str, k: str, following: str, t: Number, latest: Number, h: Number, tape: str, n: str
    ) -> str:
        w, pushed, moved = self.words, self.row("pushed", part), self.row("moved_states", part)
        self.put(t, w["starts_clock"], part)
        self.put(t + h, w["ends_clock"], part)
        tape = self._rows("rows_at_start", part, start, "starts_clock", tape, n)
        self.copy(start, pushed, w["state"])
        self._push("rows_at_start", part, 0, h, pushed)
        tape = super().part(part, pushed, k, moved, t, latest, h, tape, n)
        tape = self._rows("rows_at_end", part, moved, "ends_clock", tape, n)
        self.copy(moved, following, w["state"])
        self._push("rows_at_end", part, 1, 1.0, following)
        for name in ("tree_velocities", "closure"):
            tape = self.forward(name, self._at_end(part), tape, n)
            self.tapes[name, part] = tape
        self._responses(part, tape, n)
        return tape

    def _at_end(self, part: int) -> dict[str, str]:
        state = self.row("part_states", part)
        clock = self.e.pointer(self.words["ends_clock"], part)
        return {"q": state, "p": self.speeds(state), "v": self.row("end_velocities", part), "t": clock}

    def _rows(self, table: str, part: int, state: str, clock: str, tape: str, n: str) -> str:
        """The kept rows of G at a state."""
        e, w = self.e, self.words
        arrays = {"q": state, "v": w["no_momenta"], "t": e.pointer(w[clock], part)}
        tape = self.tapes[table, part] = self.forward("closure_jacobian", arrays, tape, n)
        self._over_rows(table, part, lambda at, place, r, j: self.put(self.get(w["out:G"], place), at, 0))
        return tape

    def _over_rows(self, table: str, part: int, act: Callable[[str, Int, str, str], None]) -> None:
        """act(address in the table, place in G, row, velocity)"""
        e, w = self.e, self.words
        base = self._table(table, part)

        def row(r: str) -> None:
            first, source = e.integer("mul", r, w["nv"]), e.integer("mul", e.load_int(w["kept_places"], r), w["nv"])
            each(e, 0, w["nv"], lambda j: act(e.pointer(base, e.integer("add", first, j)), e.integer("add", source, j), r, j))

        each(e, 0, w["kept_count"], row)

    def _table(self, table: str, part: int) -> str:
        e, w = self.e, self.words
        return e.pointer(w[table], e.integer("mul", e.integer("mul", w["kept_count"], w["nv"]), part))

    def _pushes(self, part: int, which: int) -> str:
        """lambda (0) or mu (1) of a part."""
        return self.e.pointer(self.rows_noted, self.e.integer("mul", self.words["rows_stride"], 1 + 2 * part + which))

    def _push(self, table: str, part: int, which: int, scale: Number, state: str) -> None:
        """Momenta less scale G^T lambda."""
        p, pushes = self.speeds(state), self._pushes(part, which)
        self._over_rows(
            table,
            part,
            lambda at, place, r, j: self.put(self.get(p, j) - scale * self.get(pushes, r) * self.get(at, 0), p, j),
        )

    def _responses(self, part: int, tape: str, n: str) -> None:
        """M^-1 G^T at the end: velocities by momenta, less those of prescribed motions alone; not differentiated."""
        e, w = self.e, self.words
        state = {name: x for name, x in self._at_end(part).items() if name in ("q", "t")}
        self.forward("tree_velocities", state | {"p": w["no_momenta"], "v": w["at_rest"]}, tape, n)
        rows, responses = self._table("rows_at_end", part), self._table("responses", part)

        def row(r: str) -> None:
            first = e.integer("mul", r, w["nv"])
            into = e.pointer(responses, first)
            self.forward("tree_velocities", state | {"p": e.pointer(rows, first), "v": into}, tape, n)
            each(e, 0, w["nv"], lambda j: self.put(self.get(into, j) - self.get(w["at_rest"], j), into, j))

        each(e, 0, w["kept_count"], row)

    # backward --------------------------------------------------------------------------------------------------------------

    def back_part(self, part: int, h: Number) -> None:
        w, k_bar, y_bar, lam = self.words, self.row("k_bar", part), self.words["y_bar"], self.words["lam"]
        self._second_push_back(part)
        for bar in (k_bar, y_bar):
            self.clear(bar, w["state"])
        self.end_back(part, h, lam, y_bar, k_bar)
        each(self.e, 0, w["packed"], lambda b: self.column_of(part, h, b))
        each(self.e, 0, w["kept_count"], lambda r: self._column_of_row(part, h, r))
        self.factor()
        self.copy_packed(k_bar, w["right"])
        self._put_products("rows_at_start", part, y_bar, self.e.pointer(w["right"], w["packed"]), -1.0)
        self.solve()
        self.slopes_back(part, h, y_bar)
        self._closures_back(part, h, lambda r: self.get(w["right"], self.e.integer("add", w["packed"], r)), y_bar, {})
        self._push_back("rows_at_start", part, 0, h, y_bar, self.starts[part], "starts_clock")
        self.copy(y_bar, lam, w["state"])

    def column_of(self, part: int, h: Number, b: str) -> None:
        """Column b of 1 - T0_k^T F^T, and below it G p~*."""
        super().column_of(part, h, b)
        self._put_products("rows_at_start", part, self.words["unused_state"], self._below(b), 1.0)

    def _below(self, column: Int) -> str:
        e, w = self.e, self.words
        return e.pointer(w["matrix"], e.integer("add", e.integer("mul", column, w["stride"]), w["packed"]))

    def _column_of_row(self, part: int, h: Number, r: str) -> None:
        """The column of the equations for an adjoint of the closures at the end of a part."""
        e, w = self.e, self.words
        self.clear(w["unused_state"], w["state"])
        self.clear(w["column"], w["state"])
        one = lambda s: e.symbol(e.emit("uitofp i1 $ to double", e.emit("icmp eq i64 $, $", s, r)))  # noqa: E731
        self._closures_back(part, h, one, w["unused_state"], dict(self.thrown_away))
        column = e.integer("add", w["packed"], r)
        into = e.pointer(w["matrix"], e.integer("mul", column, w["stride"]))
        self.copy_packed(w["column"], into)
        each(e, 0, w["packed"], lambda a: self.put(-self.get(into, a), into, a))
        self._put_products("rows_at_start", part, w["unused_state"], self._below(column), 1.0)

    def _closures_back(self, part: int, h: Number, seed: Callable[[str], Number], y_bar: str, data: dict[str, str]) -> None:
        """y~* += T1_y^T phi_q^T n, and T1_k^T phi_q^T n to ``column``."""
        w, new = self.words, self.words["new_bar"]
        self.clear(new, w["state"])
        self._seed_closures(0, seed)
        self.clear(w["v_bar"], w["nv"])
        self.reverse("closure", self._at_end(part), data | {"q": new, "v": w["v_bar"]}, self.tapes["closure", part])
        self.end_back(part, h, new, y_bar, w["column"])

    def _seed_closures(self, column: int, seed: Callable[[str], Number]) -> None:
        """Adjoints of the errors of the kept closures (0), or of their rates (1)."""
        e, w = self.e, self.words

        def one(r: str) -> None:
            self.put(seed(r), w["bar:closure"], e.integer("add", e.integer("mul", e.load_int(w["kept_places"], r), 2), column))

        each(e, 0, w["kept_count"], one)

    def _put_products(self, table: str, part: int, state: str, into: str, scale: float) -> None:
        """scale G p, for every row."""
        e, w = self.e, self.words
        base, p = self._table(table, part), self.speeds(state)
        each(e, 0, w["kept_count"], lambda r: self.put(scale * self._product(self._row_of(base, r), p), into, r))

    def _row_of(self, base: str, r: str) -> str:
        return self.e.pointer(base, self.e.integer("mul", r, self.words["nv"]))

    def _product(self, a: str, b: str) -> Number:
        e = self.e

        def add(j: str, found: str) -> str:
            return e.operand(e.symbol(found) + self.get(a, j) * self.get(b, j))

        return e.symbol(total(e, 0, self.words["nv"], e.constant(0.0), add))

    def _second_push_back(self, part: int) -> None:
        """lam: from (q'*, p'*) to (q'*, p^*)."""
        w, lam, right = self.words, self.words["lam"], self.words["rows_right"]
        self._form_rows(part)
        self._put_products("rows_at_end", part, lam, right, -1.0)
        self._solve_rows("solve_1", right)
        self._seed_closures(1, lambda r: self.get(right, r))
        self.clear(w["v_bar"], w["nv"])
        arrays, bars = self._at_end(part), {"q": lam, "p": self.speeds(lam), "v": w["v_bar"]}
        self.reverse("closure", arrays, bars, self.tapes["closure", part])
        self.e.forget()
        self.reverse("tree_velocities", arrays, bars, self.tapes["tree_velocities", part])
        self.e.forget()
        self._push_back("rows_at_end", part, 1, 1.0, lam, self.ends_of_parts[part], "ends_clock")

    def _push_back(self, table: str, part: int, which: int, scale: Number, bar: str, state: str, clock: str) -> None:
        """q* less what a push G^T lambda, with its lambda as it is, changes along p*."""
        e, w, p, pushes = self.e, self.words, self.speeds(bar), self._pushes(part, which)
        self._over_rows(
            table,
            part,
            lambda at, place, r, j: self.put(-scale * self.get(pushes, r) * self.get(p, j), w["bar:G"], place),
        )
        arrays = {"q": state, "v": w["no_momenta"], "t": e.pointer(w[clock], part)}
        self.reverse("closure_jacobian", arrays, {"q": bar, "v": w["v_bar"]}, self.tapes[table, part])
        e.forget()

    def _form_rows(self, part: int) -> None:
        """G M^-1 G^T at the end of a part, by its columns, factored."""
        e, w = self.e, self.words
        rows, responses = self._table("rows_at_end", part), self._table("responses", part)

        def column(c: str) -> None:
            into = e.pointer(w["rows_matrix"], e.integer("mul", c, w["rows_stride"]))
            along = self._row_of(responses, c)
            each(e, 0, w["kept_count"], lambda r: self.put(self._product(self._row_of(rows, r), along), into, r))

        each(e, 0, w["kept_count"], column)
        self._solve_rows("factor_1")

    def _solve_rows(self, function: str, *right: str) -> None:
        w = self.words
        pointers = [*(w[f"rows_{name}"] for name in ("matrix", "below", "diagonal", "pivots")), *right]
        arrays = ", ".join(f"ptr {x}" for x in pointers)
        sizes = ", ".join(f"i64 {w[name]}" for name in ("kept_count", "rows_stride", "rows_chunks"))
        self.e.do(f"call void @{function}({arrays}, {sizes})")
        self.e.forget()
