"""Steps of a fixed length; one that is cut at a corner or at a surface is followed by others that return to the grid.

``left`` is what is left of a step of the grid, zero before its first piece; ``piece`` the length of the piece at hand, zero
before it is known.
"""

from __future__ import annotations

from typing import Any

from ...kernels.executor import Address, Integer
from ...numbers import Number, maximum, minimum, negated, select
from ..tangents import steps as tangents
from ..tangents.jumps import jump
from .cuts.anchors import draw_anchors
from .cuts.corners import pass_corner, start_of_step
from .cuts.openings import find_opening, near_openings
from .cuts.roots import NO_ROOT
from .cuts.surfaces import Surface, find_cut, near_surfaces
from .declared import NOT_FINITE, RUNNING
from .projection import Watch, close
from .stepper import Stepper

WHOLE = 1e-9  # of a step: pieces and times that differ by less are the same


class FixedStepper(Stepper):
    """Steps of a fixed length h, ``substeps`` of them between one sample and the next."""

    approaches, margin = 8.0, 1.0 / 64.0  # no error estimate shows that a stage, and not the end of a step, is beyond a surface

    def going(self) -> Any:
        left, more = self.count("budget") > 0, self.words["sampled"].integer(0) < self.count("samples")
        return self.all_of(self.any(self.running()), left, more)

    def step(self) -> None:
        fresh = self.holds("paused", 0)
        self.e.when(fresh, self._attempt)
        good = self.any(self.real("cut") > 1.0)
        pausing = self.all_of(fresh, self.holds("watched", 1), good)
        self.e.when(pausing, self.pause, lambda: self._settle(good))

    def _attempt(self) -> None:
        self.add_count("budget", -1)
        self._begin()
        self.new_state(self.real("piece"))
        self._look_for_surfaces()

    def pause(self) -> None:
        self._slopes_at_ends(self.real("piece"))
        super().pause()

    def _settle(self, good: Any) -> None:
        self.set_count("paused", 0)
        self.e.when(good, self._finish, self._shorten)

    def _begin(self) -> None:
        """The length of the piece at hand."""
        left, piece, until = self.real("left"), self.real("piece"), self.real("corner") - self.real("t")
        left = select(left <= 0.0, self.real("h"), left)
        self.set_real("left", left)
        self.set_real("full", self.real("h"))
        self.set_real("piece", select(piece <= 0.0, minimum(left, maximum(until, 0.0)), piece))

    def _look_for_surfaces(self) -> None:
        h = self.real("piece")
        self.set_real("cut", NO_ROOT)
        self.e.when(self.any(near_surfaces(self, h)), lambda: self._find_cut(h))
        if "openings" in self.called:
            self.e.when(self.any(near_openings(self, h) >= 0.0), lambda: self._find_opening(h))

    def _find_opening(self, h: Number) -> None:
        self._slopes_at_ends(h)
        find_opening(self, h)

    def put_middle(self, h: Number, into: Address) -> None:
        """The state in the middle: by a parabola with the slope of the first stage, or by Hermite's cubic if that is later."""
        if self.method.implicit:
            self._slopes_at_ends(h)
            self.put_inside(h, 0.5, into)
            return
        y, new, slope = self.words["y"], self.words["new"], self.k[0]
        self.fill(into, lambda i: y[i] + 0.25 * (new[i] - y[i] + h * slope[i]))

    def _find_cut(self, h: Number) -> None:
        self._slopes_at_ends(h)
        find_cut(self, h)

    def _slopes_at_ends(self, h: Number) -> None:
        """The slopes at both ends for Hermite's cubic."""
        w, t = self.words, self.real("t")
        self.derivative(w["y"], w["origin"], start_of_step(self))
        self.derivative(w["new"], w["aside"], minimum(t + h, self.real("latest")))

    def slopes_at(self, surface: Surface) -> list[Number]:
        """One stage does not show how speeds change: a range that is wide enough, unless they turn round within a step."""
        slopes = super().slopes_at(surface)[: len(self.method.c)]
        return [*slopes, 0.5 * slopes[0], 1.5 * slopes[0]]

    def outer_slopes(self) -> tuple[Any, Any]:
        return self.k[0], self.k[len(self.method.c) - 1]

    def polynomial(self, surface: Surface) -> list[Number]:
        w, way = self.words, surface.after - surface.before
        first, last = (surface.h * surface.slope(w[name]) for name in ("origin", "aside"))
        return [first, 3.0 * way - 2.0 * first - last, first + last - 2.0 * way]

    def put_inside(self, h: Number, x: Number, into: Address) -> None:
        w = self.words

        def entry(i: Integer) -> Number:
            y, new, first, last = (w[name][i] for name in ("y", "new", "origin", "aside"))
            way, first, last = new - y, h * first, h * last
            return y + x * (first + x * ((3.0 * way - 2.0 * first - last) + x * (first + last - 2.0 * way)))

        self.fill(into, entry)

    def _shorten(self) -> None:
        self.set_real("piece", self.real("cut") * self.real("piece"))
        self.set_real("rejected", self.real("rejected") + 1.0)

    def _finish(self) -> None:
        e, w = self.e, self.words
        if self.closed:
            self.set_real("turn", maximum(self.real("turn"), self.turn()))
        finite = select(self.finite(w["new"]), float(RUNNING), float(NOT_FINITE))
        self.set_real("status", maximum(self.real("status"), finite))  # its equations may not have been solved
        if self.closed:
            e.when(self.any(self.running()), self._close)
        e.when(self.any(self.running()), self.accept)

    def new_state(self, h: Number) -> None:
        """One step from y, into ``new``."""
        self.derivative(self.words["y"], self.k[0], start_of_step(self))
        self.trial(self.real("t"), h)

    def _close(self) -> None:
        close(self, self.real("t") + self.real("piece"))
        self.set_real("status", self.real("met"))
        self.e.when(self.all_of(self.holds("project", 1), self.any(self.running())), self._remember)

    def _remember(self) -> None:
        Watch(self).remember(self.running())
        if self.tangents:
            tangents.project(self, self.words["new"])

    def accept(self) -> None:
        e, w = self.e, self.words
        if self.tangents:
            jump(self, self.real("piece"), self.real("h"), self.running())
        self.note_step(self.real("piece"), self.running())
        self.copy(w["new"], w["y"])
        draw_anchors(self, self.running())
        if not self.closed:
            self.unit_state(w["y"], self.k[0])
        self.note_fastest(self.real("t") + self.real("piece"))
        self.set_real("steps", self.real("steps") + 1.0)
        left, piece, corner = self.real("left"), self.real("piece"), self.real("corner")
        whole, t = piece >= (1.0 - WHOLE) * left, self.real("t") + piece
        passed = t >= corner - WHOLE * self.real("h")
        self.set_real("t", select(passed & negated(whole), corner, t))
        self.set_real("left", select(whole, 0.0, left - piece))
        self.set_real("piece", 0.0)
        e.when(self.any(whole), self._count, lambda: self.add_count("cuts"))
        pass_corner(self, passed)

    def _count(self) -> None:
        """A step of the grid is done."""
        self.add_count("substep")
        self.e.when(self.count("substep") >= self.count("substeps"), self._sample)

    def _sample(self) -> None:
        """Takes a sample at its own time, which is free of the rounding of sums of steps."""
        w, s = self.words, self.words["sampled"].integer(0)
        self.set_count("substep", 0)
        self.set_real("t", self.number(w["times"], s))
        self.copy(w["y"], w["out"].at(s * w["state"]))
        w["sampled"].put_integer(0, s + 1)
