"""Dense algebra on matrices in memory: functions of a module with their sizes as arguments, each written once, as loops.

A matrix is an address and a stride, the numbers from one row to the next. Rows are gone through in chunks (routine.Routine).
"""

from __future__ import annotations

from collections.abc import Callable

from ....numbers import Number, less, minimum, select, sqrt
from ..emitter import Emitter, Int
from ..flow import each, when
from .routine import Routine

TALL, BROAD = 4, 2  # rows and chunks of a product that are summed at once, in registers


def product(r: Routine) -> None:
    """C = A B, or C + alpha A B if ``add``; A (n, k) has its own steps from row to row and from column to column."""
    e = r.e
    alpha = r.e.symbol(e.splat("%alpha"))

    def block(i: str, tall: int, c: str, broad: int) -> None:
        rows = [e.integer("add", i, a) for a in range(tall)]
        chunks = [e.integer("add", c, b) for b in range(broad)]
        starts = [e.integer("mul", row, "%across") for row in rows]

        def step(k: str, sums: list[Number]) -> list[Number]:
            right = [r.chunk("%B", "%b", k, chunk) for chunk in chunks]
            along = e.integer("mul", k, "%along")
            left = [r.number("%A", e.integer("add", start, along)) for start in starts]
            return [sums[a * broad + b] + left[a] * right[b] for a in range(tall) for b in range(broad)]

        sums = r.total(0, "%k", [0.0] * (tall * broad), step)
        places = [(row, chunk) for row in rows for chunk in chunks]

        def added() -> None:
            for (row, chunk), x in zip(places, sums, strict=True):
                r.put_chunk(r.chunk("%C", "%c", row, chunk) + alpha * x, "%C", "%c", row, chunk)

        def alone() -> None:
            for (row, chunk), x in zip(places, sums, strict=True):
                r.put_chunk(x, "%C", "%c", row, chunk)

        when(e, "%add", added, alone)

    r.in_blocks("%n", TALL, lambda i, tall: r.in_blocks("%chunks", BROAD, lambda c, broad: block(i, tall, c, broad)))


def reflections(r: Routine) -> None:
    """A (n, m) = Q R by Householder's reflections 1 - v f v^T: A becomes R, V its vectors, f a row, and of each column what is
    new, squared, another row."""
    e = r.e
    least = e.symbol(e.splat("%least"))

    def one(k: str) -> None:
        def square(i: str, sums: list[Number]) -> list[Number]:
            x = r.at("%A", "%a", i, k)
            r.put_at(x, "%V", "%v", i, k)
            return [sums[0] + x * x]

        (new,) = r.total(k, "%n", [0.0], square)
        first = r.at("%A", "%a", k, k)
        length = sqrt(new + least)
        signed = select(less(first, 0.0), -length, length)
        head = first + signed
        f = 1.0 / (signed * head)
        r.put_at(head, "%V", "%v", k, k)
        r.put_number(f, "%f", k)
        r.put_number(new, "%f", e.integer("add", "%m", k))
        each(e, 0, "%chunks", lambda c: _reflect(r, "%A", "%a", k, f, c, 1))

    each(e, 0, "%m", one)


def _reflect(r: Routine, X: str, x: str, k: str, f: Number, c: str, broad: int) -> None:
    """X -= v f (v^T X), of some chunks."""
    chunks = [r.e.integer("add", c, b) for b in range(broad)]

    def along(i: str, sums: list[Number]) -> list[Number]:
        v = r.at("%V", "%v", i, k)
        return [s + v * r.chunk(X, x, i, chunk) for s, chunk in zip(sums, chunks, strict=True)]

    sums = [s * f for s in r.total(k, "%n", [0.0] * broad, along)]

    def change(i: str) -> None:
        v = r.at("%V", "%v", i, k)
        for s, chunk in zip(sums, chunks, strict=True):
            r.put_chunk(r.chunk(X, x, i, chunk) - v * s, X, x, i, chunk)

    each(r.e, k, "%n", change)


def reflected(r: Routine) -> None:
    """X = Q X, or Q^T X if ``transposed``; Q of ``reflections``, X (n, chunks)."""

    def block(c: str, broad: int) -> None:
        def one(k: str) -> None:
            _reflect(r, "%X", "%x", k, r.number("%f", k), c, broad)

        when(r.e, "%transposed", lambda: each(r.e, 0, "%m", one), lambda: r.down("%m", one))

    r.in_blocks("%chunks", TALL, block)


def forward(r: Routine) -> None:
    """R^T z = g; also the smallest square of what is new in a column, and the sum of squares of R, into two numbers at p."""
    e = r.e

    def one(k: str) -> None:
        (sum_,) = r.total(0, k, [0.0], lambda i, s: [s[0] + r.at("%R", "%a", i, k) * r.at("%z", "%s", i, 0)])
        r.put_at((r.at("%g", "%t", k, 0) - sum_) / r.at("%R", "%a", k, k), "%z", "%s", k, 0)

    each(e, 0, "%m", one)

    def pivots(k: str, found: list[Number]) -> list[Number]:
        new = r.number("%f", e.integer("add", "%m", k))
        (rest,) = r.total(
            e.integer("add", k, 1),
            "%m",
            [found[1] + new],
            lambda j, s: [s[0] + r.at("%R", "%a", k, j) * r.at("%R", "%a", k, j)],
        )
        return [minimum(found[0], new), rest]

    for k, x in enumerate(r.total(0, "%m", [r.number("%f", "%m"), 0.0], pivots)):
        r.put_number(x, "%p", k)


def backward(r: Routine) -> None:
    """R z = g."""
    e = r.e

    def one(k: str) -> None:
        following = e.integer("add", k, 1)
        (sum_,) = r.total(following, "%m", [0.0], lambda i, s: [s[0] + r.at("%R", "%a", k, i) * r.at("%z", "%s", i, 0)])
        r.put_at((r.at("%g", "%t", k, 0) - sum_) / r.at("%R", "%a", k, k), "%z", "%s", k, 0)

    r.down("%m", one)


def eliminate(r: Routine) -> None:
    """Rows of H (z, z + rest), symmetric in z: L^-1 H in place; K (z, rest) = -what z is for what is left, H_zz^-1 H_zr."""
    e = r.e

    def axpy(X: str, x: str, i: str, f: Number, k: str, chunks: str) -> None:
        each(e, 0, chunks, lambda c: r.put_chunk(r.chunk(X, x, i, c) - f * r.chunk(X, x, k, c), X, x, i, c))

    def down(k: str) -> None:
        inverse = 1.0 / r.at("%H", "%h", k, k)
        following = e.integer("add", k, 1)
        each(e, following, "%z", lambda i: axpy("%H", "%h", i, r.at("%H", "%h", i, k) * inverse, k, "%chunks"))

    def scaled(k: str) -> None:
        inverse = 1.0 / r.at("%H", "%h", k, k)
        each(e, 0, "%rest", lambda j: r.put_at(r.at("%H", "%h", k, e.integer("add", "%z", j)) * inverse, "%K", "%s", k, j))

    each(e, 0, "%z", down)
    each(e, 0, "%z", scaled)


def substitute(r: Routine) -> None:
    """K = L^-T K, after ``eliminate``."""
    e = r.e

    def one(i: str) -> None:
        inverse = 1.0 / r.at("%H", "%h", i, i)

        def subtract(k: str) -> None:
            f = r.at("%H", "%h", i, k) * inverse
            each(
                e,
                0,
                "%chunks",
                lambda c: r.put_chunk(r.chunk("%K", "%s", i, c) - f * r.chunk("%K", "%s", k, c), "%K", "%s", i, c),
            )

        each(e, e.integer("add", i, 1), "%z", subtract)

    r.down("%z", one)


def copy(r: Routine) -> None:
    """X (n, m) = alpha Y; Y has its own steps: a row of it may be a column, which is gone through number by number."""
    e = r.e
    alpha = e.symbol(e.splat("%alpha"))
    straight = e.emit("icmp eq i64 $, 1", "%along")
    chunks = e.emit("select i1 $, i64 $, i64 0", straight, e.emit("udiv i64 $, $", "%m", r.per))

    def one(i: str) -> None:
        start = e.integer("mul", i, "%across")
        each(e, 0, chunks, lambda c: r.put_chunk(alpha * r.chunk("%Y", "%across", i, c), "%X", "%x", i, c))

        def entry(j: str) -> None:
            r.put_at(alpha * r.number("%Y", e.integer("add", start, e.integer("mul", j, "%along"))), "%X", "%x", i, j)

        each(e, e.integer("mul", chunks, r.per), "%m", entry)

    each(e, 0, "%n", one)


def mirror(r: Routine) -> None:
    """X (n, n) = Y and what is below the diagonal of Y above it too."""
    e = r.e

    def one(i: str) -> None:
        def both(j: str) -> None:
            x = r.at("%Y", "%y", i, j)
            r.put_at(x, "%X", "%x", i, j)
            r.put_at(x, "%X", "%x", j, i)

        each(e, 0, e.integer("add", i, 1), both)

    each(e, 0, "%n", one)


def clear(r: Routine) -> None:
    """Whole chunks."""
    chunks = r.e.emit("udiv i64 $, $", "%n", r.per)
    each(r.e, 0, chunks, lambda c: r.put_chunk(0.0, "%X", 0, 0, c))


_ROUTINES: dict[str, tuple[Callable[[Routine], None], str]] = {
    "product": (
        product,
        "ptr C, i64 c, ptr A, i64 across, i64 along, ptr B, i64 b, i64 n, i64 k, i64 chunks, i1 add, double alpha",
    ),
    "reflections": (reflections, "ptr A, i64 a, ptr V, i64 v, ptr f, i64 n, i64 m, i64 chunks, double least"),
    "reflected": (reflected, "ptr X, i64 x, ptr V, i64 v, ptr f, i64 n, i64 m, i64 chunks, i1 transposed"),
    "forward": (forward, "ptr R, i64 a, ptr f, i64 m, ptr g, i64 t, ptr z, i64 s, ptr p"),
    "backward": (backward, "ptr R, i64 a, i64 m, ptr g, i64 t, ptr z, i64 s"),
    "eliminate": (eliminate, "ptr H, i64 h, i64 z, i64 chunks, ptr K, i64 s, i64 rest"),
    "substitute": (substitute, "ptr H, i64 h, i64 z, ptr K, i64 s, i64 chunks"),
    "copy": (copy, "ptr X, i64 x, ptr Y, i64 across, i64 along, i64 n, i64 m, double alpha"),
    "mirror": (mirror, "ptr X, i64 x, ptr Y, i64 y, i64 n"),
    "clear": (clear, "ptr X, i64 n"),
}


def call(e: Emitter, name: str, **given: Int | float | bool) -> None:
    """Call a routine, which the module gets if it has not got it yet."""
    write, signature = _ROUTINES[name]
    plain = e.lanes == 1 and not e.wide and not e.chunked
    full = f"matrix_{name}_{e.lanes}" + (f"_{e.wide}" if e.wide else "_plain" if plain else "")
    parameters = [parameter.split() for parameter in signature.split(", ")]
    if full not in e.declarations:
        e.declarations |= _written(full, write, parameters, Routine(e.lanes, e.wide, chunked=not plain))
    places = ", ".join(f"{type_} $" for type_, _ in parameters)
    e.do(f"call void @{full}({places})", *[_word(e, type_, given[parameter]) for type_, parameter in parameters])


def recorded(name: str) -> tuple[Routine, list[str], list[str]]:
    """A routine on single numbers as a graph, and the types and names of what it takes."""
    write, signature = _ROUTINES[name]
    routine = Routine(1, chunked=False)
    write(routine)
    types, names = zip(*[parameter.split() for parameter in signature.split(", ")], strict=True)
    return routine, list(types), list(names)


def _word(e: Emitter, type_: str, x: Int | float | bool) -> str:
    if type_ == "i1":
        return "true" if x else "false"
    return Emitter(1).constant(float(x)) if type_ == "double" else str(x)


def _written(full: str, write: Callable[[Routine], None], parameters: list[list[str]], routine: Routine) -> dict[str, str]:
    write(routine)
    routine.e.do("ret void")
    head = ", ".join(f"{type_} %{name}" for type_, name in parameters)
    text = f"define internal void @{full}({head}) noinline {{\nentry:\n{routine.e.text()}\n}}\n"
    return routine.e.declarations | {full: text}
