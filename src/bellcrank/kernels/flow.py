"""Loops and switches in LLVM text. Values that pass around a loop or out of a switch are lists of names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .emitter import Emitter, Int


def repeat(e: Emitter, count: Int, carry: Sequence[str], body: Callable[[str, list[str]], Sequence[str]]) -> list[str]:
    """for k = 0 .. count-1 (at least once): carry = body(k, carry); values of the emitter's number type."""
    before, top, done = e.label, e.new_label("loop"), e.new_label("done")
    e.do(f"br label %{top}")
    e.start_block(top)
    k = e.phi("i64")
    k.add("0", before)
    phis = [e.phi(e.type) for _ in carry]
    for phi, ref in zip(phis, carry, strict=True):
        phi.add(ref, before)
    after = list(body(k.ref, [phi.ref for phi in phis]))
    following = e.emit(f"add nuw nsw i64 {k.ref}, 1")
    again = e.emit(f"icmp slt i64 {following}, {count}")
    last = e.label
    e.do(f"br i1 {again}, label %{top}, label %{done}")
    k.add(following, last)
    for phi, ref in zip(phis, after, strict=True):
        phi.add(ref, last)
    e.start_block(done)
    return after


def each(e: Emitter, start: Int, stop: Int, body: Callable[[str], None]) -> None:
    """for k = start .. stop-1, possibly not at all; nothing passes around but memory."""
    before, top, inside, done = e.label, e.new_label("each"), e.new_label("do"), e.new_label("done")
    e.do(f"br label %{top}")
    e.start_block(top)
    k = e.phi("i64")
    k.add(str(start), before)
    more = e.emit(f"icmp slt i64 {k.ref}, {stop}")
    e.do(f"br i1 {more}, label %{inside}, label %{done}")
    e.start_block(inside)
    body(k.ref)
    k.add(e.emit(f"add nsw i64 {k.ref}, 1"), e.label)
    e.do(f"br label %{top}")
    e.start_block(done)


def total(e: Emitter, start: Int, stop: Int, first: str, body: Callable[[str, str], str]) -> str:
    """Fold a number over k = start .. stop-1, possibly none."""
    return folded(e, start, stop, [first], lambda k, values: [body(k, values[0])])[0]


def folded(
    e: Emitter, start: Int, stop: Int, first: Sequence[str], body: Callable[[str, list[str]], Sequence[str]]
) -> list[str]:
    """The same for several numbers at once."""
    before, top, inside, done = e.label, e.new_label("fold"), e.new_label("do"), e.new_label("done")
    e.do(f"br label %{top}")
    e.start_block(top)
    k, values = e.phi("i64"), [e.phi(e.type) for _ in first]
    k.add(str(start), before)
    for value, ref in zip(values, first, strict=True):
        value.add(ref, before)
    more = e.emit(f"icmp slt i64 {k.ref}, {stop}")
    e.do(f"br i1 {more}, label %{inside}, label %{done}")
    e.start_block(inside)
    new = body(k.ref, [value.ref for value in values])
    following = e.emit(f"add nsw i64 {k.ref}, 1")
    k.add(following, e.label)
    for value, ref in zip(values, new, strict=True):
        value.add(ref, e.label)
    e.do(f"br label %{top}")
    e.start_block(done)
    return [value.ref for value in values]


def switch(e: Emitter, code: str, cases: Sequence[Callable[[], Sequence[str]]]) -> list[str]:
    """Take the case of a code 0, 1, ...; each case returns as many values."""
    if len(cases) == 1:
        return list(cases[0]())
    labels = [e.new_label("case") for _ in cases]
    join, never = e.new_label("join"), e.new_label("never")
    arms = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
    e.do(f"switch i64 {code}, label %{never} [{arms}]")
    ends = []
    for label, case in zip(labels, cases, strict=True):
        e.start_block(label)
        values = list(case())
        ends.append((values, e.label))
        e.do(f"br label %{join}")
    e.do(f"{never}:")
    e.do("unreachable")
    e.start_block(join)
    phis = [e.phi(e.type) for _ in ends[0][0]]
    for values, label in ends:
        for phi, value in zip(phis, values, strict=True):
            phi.add(value, label)
    return [phi.ref for phi in phis]


def when(e: Emitter, condition: str, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
    """if an i1 holds: then(), else: otherwise(); nothing passes out but memory."""
    yes, no, join = e.new_label("then"), e.new_label("else"), e.new_label("endif")
    e.do(f"br i1 {condition}, label %{yes}, label %{no}")
    e.start_block(yes)
    then()
    e.do(f"br label %{join}")
    e.start_block(no)
    if otherwise is not None:
        otherwise()
    e.do(f"br label %{join}")
    e.start_block(join)


def while_(e: Emitter, condition: Callable[[], str], body: Callable[[], None]) -> None:
    """while an i1 holds: body(); nothing passes around but memory."""
    top, inside, done = e.new_label("while"), e.new_label("do"), e.new_label("done")
    e.do(f"br label %{top}")
    e.start_block(top)
    test = condition()
    e.do(f"br i1 {test}, label %{inside}, label %{done}")
    e.start_block(inside)
    body()
    e.do(f"br label %{top}")
    e.start_block(done)
