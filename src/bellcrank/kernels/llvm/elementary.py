"""sin, cos, atan2 in lanes, without branches on the common path, as LLVM text.

sin and cos: reduction by pi/2 in parts with fused multiply-add (Cody & Waite), then minimax polynomials on
[-pi/4, pi/4] (coefficients as published with fdlibm, Sun Microsystems 1993). x - k P1 is exact: both are multiples of
2^-53, or more for larger x, and the difference is below 1. P2 has so few bits that k P2 is exact too, so the reduced
argument is known as a sum r + tail, and the results are within 0.9 ulp. Arguments beyond 4e6, infinities and NaN leave
the common path and ask the C library, lane by lane. No fast-math flags here: the order of operations is the method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .graph import cosine_of

if TYPE_CHECKING:
    from .emitter import Emitter, Int

_P1, _P2, _P3 = 1.5707963267948966, 6.12323399409214e-17, 1.6446256936324258e-26  # pi/2; the second part has 31 bits
_LARGEST = 2.0**22  # then k has 22 bits
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, left in the low bits

_SIN = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
_COS = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)
_ATAN = (
    1.62858201153657823623e-02,
    -3.65315727442169155270e-02,
    4.97687799461593236017e-02,
    -5.83357013379057348645e-02,
    6.66107313738753120669e-02,
    -7.69187620504482999495e-02,
    9.09088713343650656196e-02,
    -1.11111104054623557880e-01,
    1.42857142725034663711e-01,
    -1.99999999998764832476e-01,
    3.33333333333329318027e-01,
)


def sincos(e: Emitter, into: str, x: str) -> None:
    """Both by the polynomials; lanes outside their range are replaced, the others keep what they have without neighbours."""
    T = e.type
    size = e.intrinsic("fabs", x)
    inside = e.emit(f"fcmp ole {T} {size}, {e.constant(_LARGEST)}")
    quick = _sincos_polynomial(e, x)

    def careful() -> list[str]:
        exact = [per_lane(e, name, x) for name in ("sin", "cos")]
        return [e.emit(f"select {e.bool_type} {inside}, {T} {a}, {T} {b}") for a, b in zip(quick, exact, strict=True)]

    from .flow import either  # which records with the emitter, which writes with these functions

    either(e, all_lanes(e, inside), quick, careful, [into, cosine_of(into)])


def _sincos_polynomial(e: Emitter, x: str) -> tuple[str, str]:
    T, I = e.type, e.int_type  # noqa: E741
    scaled = e.emit(f"fmul {T} {x}, {e.constant(2 / math.pi)}")
    shifted = e.emit(f"fadd {T} {scaled}, {e.constant(_MAGIC)}")
    quadrant = e.emit(f"bitcast {T} {shifted} to {I}")
    k = e.emit(f"fsub {T} {shifted}, {e.constant(_MAGIC)}")
    first = _fma(e, k, e.constant(-_P1), x)
    r = _fma(e, k, e.constant(-_P2), first)
    tail = _fma(e, k, e.constant(-_P2), e.emit(f"fsub {T} {first}, {r}"))  # what the rounding of r lost, exactly
    tail = _fma(e, k, e.constant(-_P3), tail)
    z = e.emit(f"fmul {T} {r}, {r}")
    s = e.emit(f"fadd {T} {r}, {_fma(e, e.emit(f'fmul {T} {_polynomial(e, z, _SIN)}, {z}'), r, tail)}")
    zz = e.emit(f"fmul {T} {z}, {z}")
    near = _fma(e, z, e.constant(-0.5), e.constant(1.0))  # 1 - z/2, and below what its rounding lost
    lost = _fma(e, z, e.constant(-0.5), e.emit(f"fsub {T} {e.constant(1.0)}, {near}"))
    lost = _fma(e, e.emit(f"fneg {T} {r}"), tail, lost)
    c = e.emit(f"fadd {T} {near}, {_fma(e, _polynomial(e, z, _COS), zz, lost)}")
    odd = e.emit(f"icmp ne {I} {e.emit(f'and {I} {quadrant}, {_ints(e, 1)}')}, {_ints(e, 0)}")
    sine = e.emit(f"select {e.bool_type} {odd}, {T} {c}, {T} {s}")
    cosine = e.emit(f"select {e.bool_type} {odd}, {T} {s}, {T} {c}")
    next_quadrant = e.emit(f"add {I} {quadrant}, {_ints(e, 1)}")
    return _signed(e, sine, quadrant), _signed(e, cosine, next_quadrant)


def _signed(e: Emitter, value: str, quadrant: str) -> str:
    """Negative in the quadrants whose second bit is set."""
    T, I = e.type, e.int_type  # noqa: E741
    bit = e.emit(f"shl {I} {e.emit(f'and {I} {quadrant}, {_ints(e, 2)}')}, {_ints(e, 62)}")
    flipped = e.emit(f"xor {I} {e.emit(f'bitcast {T} {value} to {I}')}, {bit}")
    return e.emit(f"bitcast {I} {flipped} to {T}")


def atan2(e: Emitter, into: str, y: str, x: str) -> None:
    """Angle of (x, y): the ratio small/large of the sides in [0, 1], by a polynomial about 0 or about 1."""
    T, B, c = e.type, e.bool_type, e.constant
    ax, ay = e.intrinsic("fabs", x), e.intrinsic("fabs", y)
    steep = e.emit(f"fcmp ogt {T} {ay}, {ax}")
    small = e.emit(f"select {B} {steep}, {T} {ax}, {T} {ay}")
    large = e.emit(f"select {B} {steep}, {T} {ay}, {T} {ax}")
    equal = e.emit(f"fcmp oeq {T} {small}, {large}")  # also 0/0 and inf/inf
    huge = e.emit(f"fcmp ogt {T} {large}, {c(1e300)}")  # so that small + large does not overflow
    scale = e.emit(f"select {B} {huge}, {T} {c(2.0**-4)}, {T} {c(1.0)}")
    small, large = e.emit(f"fmul {T} {small}, {scale}"), e.emit(f"fmul {T} {large}, {scale}")
    sum_ = e.emit(f"fadd {T} {small}, {large}")
    near_one = e.emit(f"fcmp ogt {T} {small}, {e.emit(f'fmul {T} {large}, {c(0.4142135623730950)}')}")
    top = e.emit(f"select {B} {near_one}, {T} {e.emit(f'fsub {T} {small}, {large}')}, {T} {small}")
    bottom = e.emit(f"select {B} {near_one}, {T} {sum_}, {T} {large}")
    ratio = e.emit(f"fdiv {T} {top}, {bottom}")
    t = e.emit(f"select {B} {equal}, {T} {c(0.0)}, {T} {ratio}")
    z = e.emit(f"fmul {T} {t}, {t}")
    correction = e.emit(f"fmul {T} {e.emit(f'fmul {T} {_polynomial(e, z, _ATAN)}, {z}')}, {t}")
    off_axis = e.emit(f"or {B} {near_one}, {equal}")
    tail = e.emit(f"select {B} {off_axis}, {T} {c(3.061616997868383e-17)}, {T} {c(0.0)}")
    angle = e.emit(f"fsub {T} {t}, {e.emit(f'fsub {T} {correction}, {tail}')}")
    lifted = e.emit(f"fadd {T} {angle}, {c(math.pi / 4)}")
    zero_sides = e.emit(f"fcmp oeq {T} {sum_}, {c(0.0)}")  # of both: a NaN over 0 stays a NaN
    angle = e.emit(f"select {B} {off_axis}, {T} {lifted}, {T} {angle}")
    angle = e.emit(f"select {B} {zero_sides}, {T} {c(0.0)}, {T} {angle}")
    angle = _reflect(e, steep, angle, math.pi / 2, 6.123233995736766e-17)
    sign_x = e.emit(f"icmp slt {e.int_type} {e.emit(f'bitcast {T} {x} to {e.int_type}')}, {_ints(e, 0)}")
    angle = _reflect(e, sign_x, angle, math.pi, 1.2246467991473532e-16)
    e.intrinsic("copysign", angle, y, ref=into)


def _reflect(e: Emitter, where: str, angle: str, turn: float, tail: float) -> str:
    T = e.type
    rest = e.emit(f"fsub {T} {angle}, {e.constant(tail)}")
    mirrored = e.emit(f"fsub {T} {e.constant(turn)}, {rest}")
    return e.emit(f"select {e.bool_type} {where}, {T} {mirrored}, {T} {angle}")


def power(e: Emitter, into: str, x: str, exponent: str) -> None:
    per_lane(e, "pow", x, exponent, into=into)


def exponential(e: Emitter, into: str, x: str) -> None:
    per_lane(e, "exp", x, into=into)


def logarithm(e: Emitter, into: str, x: str) -> None:
    per_lane(e, "log", x, into=into)


def per_lane(e: Emitter, name: str, *operands: str, into: str | None = None) -> str:
    """A function of the C library on each lane."""
    e.declarations[name] = f"declare double @{name}({', '.join(['double'] * len(operands))})"
    if e.lanes == 1:
        return e.emit(f"call double @{name}({', '.join(f'double {x}' for x in operands)})", ref=into)
    result = "poison"
    for lane in range(e.lanes):
        scalars = [e.emit(f"extractelement {e.type} {x}, i32 {lane}") for x in operands]
        value = e.emit(f"call double @{name}({', '.join(f'double {x}' for x in scalars)})")
        last = into if lane == e.lanes - 1 else None
        result = e.emit(f"insertelement {e.type} {result}, double {value}, i32 {lane}", ref=last)
    return result


def gather(e: Emitter, into: str, pointer: str, last: str, index: str, own: bool = False) -> None:
    """Entry of a table of doubles at the whole part of an index; outside the nearest end; not a number at one that is not.

    Clamped before it becomes an integer, and so that a NaN ends at 0: no lane reads outside the table. ``own``: each lane has
    its own table.
    """
    whole = _inside(e, last, index)
    T = e.type
    unknown = e.emit(f"fcmp uno {T} {index}, {e.constant(0.0)}")
    found = _entries(e, pointer, whole, own)
    e.emit(f"select {e.bool_type} {unknown}, {T} {e.constant(math.nan)}, {T} {found}", ref=into)


def gather_tangents(e: Emitter, into: str, pointer: str, last: str, index: str) -> None:
    """The tangents of the same entry, of one state."""
    place = e.integer("mul", _inside(e, last, index), e.wide)
    e.emit(f"load {e.wide_type}, ptr {e.pointer(pointer, place)}, align 8", ref=into)


def _inside(e: Emitter, last: str, index: str) -> str:
    T, zero = e.type, e.constant(0.0)
    above = e.emit(f"fcmp ogt {T} {index}, {zero}")
    low = e.emit(f"select {e.bool_type} {above}, {T} {index}, {T} {zero}")
    below = e.emit(f"fcmp olt {T} {low}, {last}")
    inside = e.emit(f"select {e.bool_type} {below}, {T} {low}, {T} {last}")
    return e.emit(f"fptosi {T} {inside} to {e.int_type}")


def gather_inside(e: Emitter, into: str, pointer: str, index: str, own: bool = False) -> None:
    """The number of a table at an index that is known to lie inside of it."""
    found = _entries(e, pointer, e.emit(f"fptosi {e.type} {index} to {e.int_type}"), own)
    e.emit(f"select {e.bool_type} {_yes(e)}, {e.type} {found}, {e.type} {found}", ref=into)


def _yes(e: Emitter) -> str:
    return "true" if e.lanes == 1 else "<" + ", ".join(["i1 true"] * e.lanes) + ">"


def _entries(e: Emitter, pointer: str, whole: str, own: bool) -> str:
    if e.lanes == 1:
        return e.load_double(pointer, whole)
    result = "poison"
    for lane in range(e.lanes):
        place: Int = e.emit(f"extractelement {e.int_type} {whole}, i32 {lane}")
        if own:
            place = e.integer("add", e.integer("mul", place, e.lanes), lane)
        result = e.emit(f"insertelement {e.type} {result}, double {e.load_double(pointer, place)}, i32 {lane}")
    return result


def all_lanes(e: Emitter, condition: str) -> str:
    if e.lanes == 1:
        return condition
    bits = e.emit(f"bitcast {e.bool_type} $ to i{e.lanes}", condition)
    return e.emit(f"icmp eq i{e.lanes} $, -1", bits)


def any_lane(e: Emitter, condition: str) -> str:
    if e.lanes == 1:
        return condition
    bits = e.emit(f"bitcast {e.bool_type} $ to i{e.lanes}", condition)
    return e.emit(f"icmp ne i{e.lanes} $, 0", bits)


def _fma(e: Emitter, a: str, b: str, c: str) -> str:
    return e.intrinsic("fma", a, b, c)


def _polynomial(e: Emitter, z: str, coefficients: tuple[float, ...]) -> str:
    result = e.constant(coefficients[0])
    for coefficient in coefficients[1:]:
        result = _fma(e, result, z, e.constant(coefficient))
    return result


def _ints(e: Emitter, k: int) -> str:
    return str(k) if e.lanes == 1 else "<" + ", ".join([f"i64 {k}"] * e.lanes) + ">"


FUNCTIONS: dict[str, Callable[..., None]] = {
    "sincos": sincos,
    "atan2": atan2,
    "pow": power,
    "exp": exponential,
    "log": logarithm,
    "gather": gather,
    "gather tangents": gather_tangents,
    "gather_inside": gather_inside,
    "gather own": partial(gather, own=True),
    "gather_inside own": partial(gather_inside, own=True),
}
"""Operations of the graph that are written out when the text is."""
