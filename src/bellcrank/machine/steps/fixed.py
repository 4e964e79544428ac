"""Steps of a fixed length."""

from __future__ import annotations

from ...kernels.llvm.flow import when, while_
from ...numbers import maximum
from .memory import NOT_FINITE, RUNNING
from .projection import Watch, close
from .stepper import Stepper


class FixedStepper(Stepper):
    def loop(self) -> None:
        """``substeps`` steps of length h between one sample and the next."""
        e = self.e

        def going() -> str:
            left = e.emit(f"icmp sgt i64 {self.count('budget')}, 0")
            more = e.emit(f"icmp slt i64 {e.load_int(self.words['sampled'], 0)}, {self.count('samples')}")
            return self.all_of(self.any(self.running()), left, more)

        while_(e, going, self.step)

    def step(self) -> None:
        e, w = self.e, self.words
        self.add_count("budget", -1)
        self.new_state()
        if self.closed:
            self.set_real("turn", maximum(self.real("turn"), self.turn()))
        finite = self.finite(w["new"]).select(float(RUNNING), float(NOT_FINITE))
        self.set_real("status", maximum(self.real("status"), finite))  # its equations may not have been solved
        if self.closed:
            when(e, self.any(self.running()), self._close)
        when(e, self.any(self.running()), self._accept)

    def new_state(self) -> None:
        """One step from y, into ``new``."""
        t = self.real("t")
        self.derivative(self.words["y"], self.k[0], t)
        self.trial(t, self.real("h"))

    def _close(self) -> None:
        close(self, self.real("t") + self.real("h"))
        self.set_real("status", self.real("met"))
        when(self.e, self.all_of(self.holds("project", 1), self.any(self.running())), self._remember)

    def _remember(self) -> None:
        Watch(self).remember(self.running())

    def _accept(self) -> None:
        e, w = self.e, self.words
        self.copy(w["new"], w["y"])
        if not self.closed:
            self.unit_quaternions(w["y"], self.k[0])
        self.set_real("steps", self.real("steps") + 1.0)
        self.add_count("substep")
        self.set_real("t", self.real("t") + self.real("h"))
        done = e.emit(f"icmp sge i64 {self.count('substep')}, {self.count('substeps')}")
        when(e, done, self._sample)

    def _sample(self) -> None:
        e, w = self.e, self.words
        self.set_count("substep", 0)
        s = e.load_int(w["sampled"], 0)
        self.set_real("t", e.symbol(e.splat(e.load_double(w["times"], s))))
        self.copy(w["y"], e.pointer(w["out"], e.integer("mul", s, w["state"])))
        e.do(f"store i64 {e.integer('add', s, 1)}, ptr {w['sampled']}, align 8")
