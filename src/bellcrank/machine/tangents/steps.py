"""Tangents of a state, integrated with it: in the same steps, by the same stages.

They stand behind the works in a state, chunk by chunk: of each chunk dq, then dv (or dp), every number with its vector of
tangents. What a step does to a state it does to them, since it is linear; only the slopes, the quaternions and the projection
onto the closures are differentiated, and of these not the iterations but the equations (EQUATIONS 2.6): at a state on the
closures the derivative of a correction is the correction of the derivative,

    dq -> dq - W G^+ (G dq + dPhi/dp),     dv -> dv - W G^+ d(G v + Phi_t)

Momenta are settled: p -> M v, with v(q, p) as the closures leave it. v is differentiated at the momenta before that, M v +
G^T sigma: their tangents have the part dG^T sigma, which does not vanish with sigma once that has been taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...formulations import Program
from ...formulations.program import tangent_of
from ...kernels.executor import Address, Integer
from ...numbers import Condition, Number, Symbol, maximum
from ..arrays import ARRAYS
from ..steps.layout import VECTOR
from .data import FEW

if TYPE_CHECKING:
    from ..steps.stepper import Stepper

BY_VELOCITIES = ("rates", "positions", "velocities", "to_momenta", "closure", "closure_jacobian")
BY_MOMENTA = ("of_momenta", "tree_velocities")


def with_tangents(called: dict[str, Program], tangents: int) -> dict[str, Program]:
    """The kernels of a step, the first on dual numbers, and others beside those without: ``d_rates`` and so on.

    What solves equations of a step takes the first one without tangents too, ``plain``.
    """
    first = called["kernel"]
    speed = "p" if "p" in first.inputs else "v"
    along = dict.fromkeys(BY_VELOCITIES, ("q", "v")) | dict.fromkeys(BY_MOMENTA, ("q", "p"))
    also = {f"d_{name}": called[name].differentiated(by, tangents) for name, by in along.items() if name in called}
    if "tangent" in called or "tree_velocities" in called:
        also["plain"] = first
    if "openings" in called:
        also["d_openings"] = called["openings"].differentiated(("q", "v"), tangents)
        also["openings_along"] = called["openings"].differentiated(("q", "v", "t"), FEW, of_design=False)
        for velocities in (called[name] for name in BY_MOMENTA if name in called):
            also["velocities_along"] = velocities.differentiated(("q", "p", "t"), FEW, of_design=False)
    return called | {"kernel": first.differentiated(("q", speed), tangents)} | also


def each_chunk(stepper: Stepper, state: Address, act: Callable[[Any, Any, Any], None]) -> None:
    """act(chunk, dq, dv) for the tangents of a state."""
    stepper.e.each(0, stepper.words["tangent_chunks"], lambda c: act(c, *parts(stepper, state, c)))


def parts(stepper: Stepper, state: Address, chunk: Integer) -> tuple[Any, Any]:
    """dq and dv of a chunk of the tangents of a state, or of its slopes."""
    w = stepper.words
    start = state.at(w["t_start"]).at(chunk * w["tangent_block"])
    return start, start.at(w["nq"] * stepper.tangents)


def call(stepper: Stepper, name: str, chunk: Integer, arrays: dict[str, Any]) -> None:
    """A kernel on dual numbers, on one chunk of the tangents of the data."""
    w = stepper.words
    own = {
        taken: w[taken].at(chunk * w[f"step:{taken}"]) for taken in stepper.arguments[name] if ARRAYS[taken].kind == "tangent"
    }
    stepper.call(name, own | arrays)


def unpack(stepper: Stepper, source: Address, count: Integer, values: str | None, tangents: Address) -> None:
    """Numbers that have their tangents behind them: tangents, and perhaps values, to where they stand in a state."""
    e, width = stepper.e, stepper.tangents

    def one(i: Integer) -> None:
        first = source.at(i * (1 + width))
        if values is not None:
            stepper.put_number(stepper.number(first, 0), values, i)
        into = tangents.at(i * width)
        for k in range(0, width, VECTOR):
            into.at(k).put_vector(first.at(1 + k).vector())

    e.each(0, count, one)


def slopes(stepper: Stepper, y: Address, k: Any, arrays: dict[str, Any]) -> None:
    """The slopes of the state by the first kernel, with their tangents."""
    w, width = stepper.words, stepper.tangents
    speed, slope = ("p", "pdot") if stepper.momenta else ("v", "a")
    plain = {name: x for name, x in arrays.items() if name not in ("qdot", *stepper.called["kernel"].outputs)}

    def one(c: Integer, dq: Address, dv: Address) -> None:
        dk_q, dk_v = parts(stepper, k, c)
        call(stepper, "kernel", c, plain | {"d_q": dq, tangent_of(speed): dv})
        unpack(stepper, w[f"buffer:{slope}"], w["nv"], arrays[slope], dk_v)
        if stepper.momenta:
            unpack(stepper, w["buffer:v"], w["nv"], w["moved"], w["moving"])
        speeds, rates = (w["moved"], w["moving"]) if stepper.momenta else (arrays["v"], dv)
        if stepper.plain_rates:
            stepper.fill(dk_q, rates.__getitem__, 0, w["nv"] * width // VECTOR)
        else:
            call(stepper, "d_rates", c, plain | {"v": speeds, "d_q": dq, "d_v": rates})
            unpack(stepper, w["buffer:qdot"], w["nq"], None, dk_q)

    each_chunk(stepper, y, one)


def project(stepper: Stepper, state: Address) -> None:
    """Tangents of a state that is on the closures, onto those of the closures."""
    w = stepper.words
    v = state.at(w["v_start"])
    arrays = {"q": state, "v": v, "t": w["clock"]}

    def one(c: Integer, dq: Address, dv: Address) -> None:
        call(stepper, "d_positions", c, arrays | {"d_q": dq, "d_v": dv})
        unpack(stepper, w["buffer:dx"], w["nv"], w["moved"], w["moving"])
        if stepper.plain_rates:
            _add(stepper, w["moving"], dq, w["nv"])
        else:
            clear(stepper, w["still"], w["nq"] * stepper.tangents)
            call(stepper, "d_rates", c, arrays | {"v": w["moved"], "d_q": w["still"], "d_v": w["moving"]})
            unpack(stepper, w["buffer:qdot"], w["nq"], None, w["moving"])
            _add(stepper, w["moving"], dq, w["nq"])
        if stepper.momenta:
            settle_momenta(stepper, c, state, dq, dv)
            return
        call(stepper, "d_velocities", c, arrays | {"d_q": dq, "d_v": dv})
        unpack(stepper, w["buffer:dv"], w["nv"], w["moved"], w["moving"])
        _add(stepper, w["moving"], dv, w["nv"])

    each_chunk(stepper, state, one)
    unit(stepper, state)


def settle_momenta(stepper: Stepper, c: Integer, state: Address, dq: Address, dp: Address) -> None:
    """p = M(q) v(q, p), of the momenta in ``unsettled``."""
    w = stepper.words
    arrays = {"q": state, "t": w["clock"], "d_q": dq}
    call(stepper, "d_of_momenta", c, arrays | {"p": w["unsettled"], "d_p": dp})
    unpack(stepper, w["buffer:v"], w["nv"], w["moved"], w["moving"])
    call(stepper, "d_to_momenta", c, arrays | {"v": w["moved"], "d_v": w["moving"]})
    unpack(stepper, w["buffer:p"], w["nv"], w["moved"], dp)


def clear(stepper: Stepper, array: str, count: Integer) -> None:
    stepper.fill(array, lambda i: 0.0, 0, count // VECTOR)


def _add(stepper: Stepper, change: Address, to: Address, count: Integer) -> None:
    stepper.fill(to, lambda i: to[i] + change[i], 0, count * stepper.tangents // VECTOR)


def unit(stepper: Stepper, state: Address) -> None:
    """Tangents of unit quaternions are at right angles to them."""
    if stepper.plain_rates:
        return
    e, w, width = stepper.e, stepper.words, stepper.tangents

    def one(c: Integer, dq: Address, dv: Address) -> None:
        def quaternion(i: Integer) -> None:
            at = w["quaternions"].integer(i)
            q = [stepper.number(state, at + j) for j in range(4)]
            for part in range(width // VECTOR):
                places = [(at + j) * (width // VECTOR) + part for j in range(4)]
                changes = [dq[place] for place in places]
                along = q[0] * changes[0] + q[1] * changes[1] + q[2] * changes[2] + q[3] * changes[3]
                for x, change, place in zip(q, changes, places, strict=True):
                    dq[place] = change - x * along

        e.each(0, w["quaternion_count"], quaternion)

    each_chunk(stepper, state, one)


def largest_norm(stepper: Stepper, terms: Sequence[Callable[[Any], Number]], joined: Callable[..., Number]) -> Symbol:
    """The largest over the parameters of a function of sums of squares, of terms at the vectors of a state.

    Each place of a vector is of another parameter; the entries of a state stand one after the other. What is found of each
    parameter is left in ``tangent_error``.
    """
    e, w, per = stepper.e, stepper.words, stepper.tangents // VECTOR
    first = w["t_start"] // VECTOR
    entries = w["nq"] + w["nv"]

    def chunk(c: Integer, found: list[Number]) -> list[Number]:
        largest = found[0]
        start = first + c * entries * per
        for part in range(per):

            def square(term: Callable[[Any], Number], i: Integer, part: int = part) -> Number:
                x = term(start + i * per + part)
                return x * x

            sums = [stepper.folded(0, entries, partial(square, term), lambda a, b: a + b) for term in terms]
            norm = joined(*sums)
            w["tangent_error"][c * per + part] = norm
            largest = maximum(largest, norm)
        return [largest]

    return stepper.largest(e.fold(0, w["tangent_chunks"], [0.0], chunk)[0])


def add_errors(stepper: Stepper, where: Condition) -> None:
    """Add up the errors of accepted steps, in parts of what the tolerance allows in a step."""
    e, w = stepper.e, stepper.words

    def one(i: Integer) -> None:
        before = w["tangent_errors"][i]
        w["tangent_errors"][i] = where.select(before + w["tangent_error"][i], before)

    e.each(0, w["tangent_chunks"] * (stepper.tangents // VECTOR), one)
