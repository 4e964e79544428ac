"""Tangents of a state, integrated with it: in the same steps, by the same stages.

They stand behind the works in a state, chunk by chunk: of each chunk dq, then dv (or dp), every number with its vector of
tangents. What a step does to a state it does to them, since it is linear; only the slopes, the quaternions and the way back
onto the closures are differentiated, and of these not the iterations but the equations (EQUATIONS 2.6): at a state on the
closures the derivative of a correction is the correction of the derivative,

    dq -> dq - W G^+ (G dq + dPhi/dp),     dv -> dv - W G^+ d(G v + Phi_t)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...formulations import Program
from ...formulations.base import tangent_of
from ...kernels.llvm.emitter import Int
from ...kernels.llvm.flow import each, total
from ...numbers import Condition, Number, Symbol, maximum
from ..arrays import ARRAYS
from ..steps.memory import WIDE
from .data import FEW

if TYPE_CHECKING:
    from ..steps.stepper import Stepper

DIFFERENTIATED = ("rates", "positions", "velocities")


def with_tangents(called: dict[str, Program], tangents: int) -> dict[str, Program]:
    """The kernels of a step, the first on dual numbers, and others beside those without: ``d_rates`` and so on.

    Newton's method takes the first one without tangents too, ``plain``.
    """
    first = called["kernel"]
    speed = "p" if "p" in first.inputs else "v"
    also = {f"d_{name}": called[name].differentiated(("q", "v"), tangents) for name in DIFFERENTIATED if name in called}
    if "tangent" in called:
        also["plain"] = first
    if "openings" in called:
        also["d_openings"] = called["openings"].differentiated(("q", "v"), tangents)
        also["openings_along"] = called["openings"].differentiated(("q", "v", "t"), FEW, of_design=False)
    return called | {"kernel": first.differentiated(("q", speed), tangents)} | also


def each_chunk(stepper: Stepper, state: str, act: Callable[[str, str, str], None]) -> None:
    """act(chunk, dq, dv) for the tangents of a state."""
    each(stepper.e, 0, stepper.words["tangent_chunks"], lambda c: act(c, *parts(stepper, state, c)))


def parts(stepper: Stepper, state: str, chunk: str) -> tuple[str, str]:
    """dq and dv of a chunk of the tangents of a state, or of its slopes."""
    e, w = stepper.e, stepper.words
    start = e.pointer(e.pointer(state, w["t_start"]), e.integer("mul", chunk, w["tangent_block"]))
    return start, e.pointer(start, e.integer("mul", w["nq"], stepper.tangents))


def call(stepper: Stepper, name: str, chunk: str, arrays: dict[str, str]) -> None:
    """A kernel on dual numbers, on one chunk of the tangents of the data."""
    e, w = stepper.e, stepper.words
    own = {
        taken: e.pointer(w[taken], e.integer("mul", chunk, w[f"step:{taken}"]))
        for taken in stepper.arguments[name]
        if ARRAYS[taken].kind == "tangent"
    }
    stepper.call(name, own | arrays)


def unpack(stepper: Stepper, source: str, count: Int, values: str | None, tangents: str) -> None:
    """Numbers that have their tangents behind them: tangents, and perhaps values, to where they stand in a state."""
    e, wide = stepper.e, stepper.tangents

    def one(i: str) -> None:
        first = e.pointer(source, e.integer("mul", i, 1 + wide))
        if values is not None:
            e.do(f"store double {e.load_double(first, 0)}, ptr {e.pointer(values, i)}, align 8")
        into = e.pointer(tangents, e.integer("mul", i, wide))
        for k in range(0, wide, WIDE):
            x = e.emit(f"load {e.type}, ptr {e.pointer(first, 1 + k)}, align 8")
            e.do(f"store {e.type} {x}, ptr {e.pointer(into, k)}, align 8")

    each(e, 0, count, one)


def slopes(stepper: Stepper, y: str, k: str, arrays: dict[str, str]) -> None:
    """Those of the state by the first kernel, and of its tangents."""
    e, w, wide = stepper.e, stepper.words, stepper.tangents
    speed, slope = ("p", "pdot") if stepper.momenta else ("v", "a")
    plain = {name: x for name, x in arrays.items() if name not in ("qdot", *stepper.called["kernel"].outputs)}

    def one(c: str, dq: str, dv: str) -> None:
        dk_q, dk_v = parts(stepper, k, c)
        call(stepper, "kernel", c, plain | {"d_q": dq, tangent_of(speed): dv})
        unpack(stepper, w[f"buffer:{slope}"], w["nv"], arrays[slope], dk_v)
        if stepper.momenta:
            unpack(stepper, w["buffer:v"], w["nv"], w["moved"], w["moving"])
        speeds, rates = (w["moved"], w["moving"]) if stepper.momenta else (arrays["v"], dv)
        if stepper.plain_rates:
            vectors = e.emit(f"sdiv i64 {e.integer('mul', w['nv'], wide)}, {WIDE}")
            each(e, 0, vectors, lambda i: e.store(stepper.get(rates, i), dk_q, i))
        else:
            call(stepper, "d_rates", c, plain | {"v": speeds, "d_q": dq, "d_v": rates})
            unpack(stepper, w["buffer:qdot"], w["nq"], None, dk_q)

    each_chunk(stepper, y, one)


def project(stepper: Stepper, state: str) -> None:
    """Tangents of a state that is on the closures, onto those of the closures."""
    e, w = stepper.e, stepper.words
    v = e.pointer(state, w["v_start"])
    arrays = {"q": state, "v": v, "t": w["clock"]}

    def one(c: str, dq: str, dv: str) -> None:
        call(stepper, "d_positions", c, arrays | {"d_q": dq, "d_v": dv})
        unpack(stepper, w["buffer:dx"], w["nv"], w["moved"], w["moving"])
        if stepper.plain_rates:
            _add(stepper, w["moving"], dq, w["nv"])
        else:
            clear(stepper, w["still"], e.integer("mul", w["nq"], stepper.tangents))
            call(stepper, "d_rates", c, arrays | {"v": w["moved"], "d_q": w["still"], "d_v": w["moving"]})
            unpack(stepper, w["buffer:qdot"], w["nq"], None, w["moving"])
            _add(stepper, w["moving"], dq, w["nq"])
        call(stepper, "d_velocities", c, arrays | {"d_q": dq, "d_v": dv})
        unpack(stepper, w["buffer:dv"], w["nv"], w["moved"], w["moving"])
        _add(stepper, w["moving"], dv, w["nv"])

    each_chunk(stepper, state, one)
    unit(stepper, state)


def clear(stepper: Stepper, array: str, count: Int) -> None:
    e = stepper.e
    each(e, 0, e.emit(f"sdiv i64 {count}, {WIDE}"), lambda i: e.store(0.0, array, i))


def _add(stepper: Stepper, change: str, to: str, count: str) -> None:
    e = stepper.e
    vectors = e.emit(f"sdiv i64 {e.integer('mul', count, stepper.tangents)}, {WIDE}")
    each(e, 0, vectors, lambda i: e.store(stepper.get(to, i) + stepper.get(change, i), to, i))


def unit(stepper: Stepper, state: str) -> None:
    """Tangents of unit quaternions are at right angles to them."""
    if stepper.plain_rates:
        return
    e, w, wide = stepper.e, stepper.words, stepper.tangents

    def one(c: str, dq: str, dv: str) -> None:
        def quaternion(i: str) -> None:
            at = e.load_int(w["quaternions"], i)
            q = [stepper.number(state, e.integer("add", at, j)) for j in range(4)]
            for part in range(wide // WIDE):
                places = [e.integer("add", e.integer("mul", e.integer("add", at, j), wide // WIDE), part) for j in range(4)]
                changes = [stepper.get(dq, str(place)) for place in places]
                along = q[0] * changes[0] + q[1] * changes[1] + q[2] * changes[2] + q[3] * changes[3]
                for x, change, place in zip(q, changes, places, strict=True):
                    e.store(change - x * along, dq, place)

        each(e, 0, w["quaternion_count"], quaternion)

    each_chunk(stepper, state, one)


def largest_norm(stepper: Stepper, terms: Sequence[Callable[[str], Number]], joined: Callable[..., Number]) -> Symbol:
    """The largest over the parameters of a function of sums of squares, of terms at the vectors of a state.

    Each place of a vector is of another parameter; the entries of a state stand one after the other. What is found of each
    parameter is left in ``tangent_error``.
    """
    e, w, per = stepper.e, stepper.words, stepper.tangents // WIDE
    first = e.emit(f"sdiv i64 {w['t_start']}, {WIDE}")
    entries = e.integer("add", w["nq"], w["nv"])

    def chunk(c: str, found: str) -> str:
        largest: Number = e.symbol(found)
        start = e.integer("add", first, e.integer("mul", e.integer("mul", c, entries), per))
        for part in range(per):

            def square(term: Callable[[str], Number], i: str, part: int = part) -> Number:
                x = term(str(e.integer("add", start, e.integer("add", e.integer("mul", i, per), part))))
                return x * x

            sums = [stepper.folded(0, entries, partial(square, term), lambda a, b: a + b) for term in terms]
            norm = joined(*[e.symbol(x) for x in sums])
            e.store(norm, w["tangent_error"], e.integer("add", e.integer("mul", c, per), part))
            largest = maximum(largest, norm)
        return e.operand(largest)

    return stepper.largest(total(e, 0, w["tangent_chunks"], e.constant(0.0), chunk))


def add_errors(stepper: Stepper, where: Condition) -> None:
    """Add up the errors of accepted steps, in parts of what the tolerance allows in a step."""
    e, w = stepper.e, stepper.words

    def one(i: str) -> None:
        before = stepper.get(w["tangent_errors"], i)
        e.store(where.select(before + stepper.get(w["tangent_error"], i), before), w["tangent_errors"], i)

    each(e, 0, e.integer("mul", w["tangent_chunks"], stepper.tangents // WIDE), one)
