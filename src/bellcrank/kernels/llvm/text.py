"""The recorded operations of a function as LLVM text. Loops become blocks with labels; what they carry becomes phis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import elementary
from .graph import Abreast, Branch, Loop, Operation, Region, While

if TYPE_CHECKING:
    from .emitter import Emitter

FLAGS = "contract nsz arcp"
LIKELY = ", !prof !0"  # the module says how much (PROFILE)


def templates(e: Emitter) -> dict[str, str]:
    """LLVM's text for the kinds of operations on numbers."""
    T, B = e.type, e.bool_type
    ones = "true" if e.lanes == 1 else "<" + ", ".join(["i1 true"] * e.lanes) + ">"
    said = {kind: f"{kind} {FLAGS} {T} $, $" for kind in ("fadd", "fsub", "fmul", "fdiv")}
    said |= {kind: f"fcmp {kind} {T} $, $" for kind in ("olt", "ole", "ogt", "oge")}
    said |= {kind: f"{kind} {B} $, $" for kind in ("and", "or")}
    if e.wide:
        W = e.wide_type
        said |= {f"wide {kind}": f"{kind} {FLAGS} {W} $, $" for kind in ("fadd", "fsub", "fmul", "fdiv")}
        said |= {"wide fneg": f"fneg {FLAGS} {W} $", "wide select": f"select {B} $, {W} $, {W} $"}
    return said | {"fneg": f"fneg {FLAGS} {T} $", "select": f"select {B} $, {T} $, {T} $", "not": f"xor {B} $, {ones}"}


def as_format(text: str) -> str:
    """The text as a format, with %s for each argument."""
    return text.replace("%", "%%").replace("$", "%s")


class Writer:
    """Lines of a function; ``label`` is that of the present block."""

    def __init__(self, e: Emitter):
        self.e, self.lines, self.label = e, list[str](), "entry"
        self._formats: dict[int, dict[str, str]] = {}  # by lanes
        self._labels = 0

    def new_label(self, hint: str) -> str:
        self._labels += 1
        return f"{hint}{self._labels}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        self.lines.append(f"br label %{label}")

    def write(self, region: Region) -> None:
        formats, lines = self._formats_now(), self.lines
        for part in region.parts:
            if type(part) is not Operation:
                self._control(part)
                continue
            kind = part.kind
            form = formats.get(kind)
            if form is None:
                if kind in elementary.FUNCTIONS:
                    self._function(part)
                    continue
                form = formats[kind] = as_format(kind)
            text = form % part.args
            lines.append(text if part.ref is None else f"{part.ref} = {text}")
            if text[-1] == ":":
                self.label = text[:-1]

    def _formats_now(self) -> dict[str, str]:
        """Formats for the kinds of operations on numbers; those of other operations are made as they are met."""
        lanes = self.e.lanes
        if lanes not in self._formats:
            self._formats[lanes] = {kind: as_format(text) for kind, text in templates(self.e).items()}
        return self._formats[lanes]

    def _function(self, part: Operation) -> None:
        """Elementary functions are written out in simpler operations."""
        with self.e.inside(Region()) as region:
            elementary.FUNCTIONS[part.kind](self.e, part.ref, *part.args)
        self.write(region)

    def _control(self, part: Any) -> None:
        if isinstance(part, Loop):
            (self._at_least_once if part.once else self._loop)(part)
        elif isinstance(part, Branch):
            self._branch(part)
        elif isinstance(part, While):
            self._while(part)
        elif isinstance(part, Abreast):
            with self.e.in_lanes(part.lanes):
                self.write(part.body)

    def _loop(self, loop: Loop) -> None:
        before, top, inside, done = self.label, *(self.new_label(hint) for hint in ("each", "do", "done"))
        self.jump(top)
        self.start(top)
        phis = self._reserve(1 + len(loop.carried))
        more = self.e.name()
        self.lines.append(f"{more} = icmp slt i64 {loop.k}, {loop.stop}")
        self.lines.append(f"br i1 {more}, label %{inside}, label %{done}")
        self.start(inside)
        self.write(loop.body)
        following = self.e.name()
        self.lines.append(f"{following} = add nsw i64 {loop.k}, 1")
        self._fill(phis, loop, before, following)
        self.jump(top)
        self.start(done)

    def _at_least_once(self, loop: Loop) -> None:
        before, top, done = self.label, self.new_label("loop"), self.new_label("done")
        self.jump(top)
        self.start(top)
        phis = self._reserve(1 + len(loop.carried))
        self.write(loop.body)
        following, again = self.e.name(), self.e.name()
        self.lines.append(f"{following} = add nuw nsw i64 {loop.k}, 1")
        self.lines.append(f"{again} = icmp slt i64 {following}, {loop.stop}")
        self._fill(phis, loop, before, following)
        self.lines.append(f"br i1 {again}, label %{top}, label %{done}")
        self.start(done)

    def _reserve(self, count: int) -> int:
        """Lines for phis, whose last values are known only behind the loop."""
        self.lines += [""] * count
        return len(self.lines) - count

    def _fill(self, at: int, loop: Loop, before: str, following: str) -> None:
        last = self.label
        self.lines[at] = f"{loop.k} = phi i64 [{loop.start}, %{before}], [{following}, %{last}]"
        for k, (name, first, after) in enumerate(zip(loop.carried, loop.first, loop.after, strict=True), start=1):
            self.lines[at + k] = f"{name} = phi {self.e.type_of(name)} [{first}, %{before}], [{after}, %{last}]"

    def _branch(self, branch: Branch) -> None:
        join, labels = self.new_label("join"), [self.new_label("case") for _ in branch.regions]
        if branch.bit:
            weight = LIKELY if branch.likely else ""
            self.lines.append(f"br i1 {branch.on}, label %{labels[0]}, label %{labels[1]}{weight}")
        else:
            never = self.new_label("never")
            arms = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
            self.lines.append(f"switch i64 {branch.on}, label %{never} [{arms}]")
        ends = []
        for label, region in zip(labels, branch.regions, strict=True):
            self.start(label)
            self.write(region)
            ends.append(self.label)
            self.jump(join)
        if not branch.bit:
            self.lines += [f"{never}:", "unreachable"]
        self.start(join)
        for k, name in enumerate(branch.results):
            sources = ", ".join(f"[{values[k]}, %{end}]" for values, end in zip(branch.values, ends, strict=True))
            self.lines.append(f"{name} = phi {self.e.type_of(name)} {sources}")

    def _while(self, part: While) -> None:
        top, inside, done = (self.new_label(hint) for hint in ("while", "do", "done"))
        self.jump(top)
        self.start(top)
        self.write(part.condition)
        self.lines.append(f"br i1 {part.test}, label %{inside}, label %{done}")
        self.start(inside)
        self.write(part.body)
        self.jump(top)
        self.start(done)
