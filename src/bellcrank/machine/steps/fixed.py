"""Steps of a fixed length."""

from __future__ import annotations

from ...kernels.llvm.flow import when, while_
from ...numbers import maximum
from .stepper import NOT_FINITE, RUNNING, Stepper


class FixedStepper(Stepper):
    def loop(self) -> None:
        """``substeps`` steps of length h between one sample and the next."""
        e, w = self.e, self.words

        def step() -> None:
            self.add_count("budget", -1)
            self.new_state()
            finite = self.finite(w["new"])
            if "positions" in self.called:
                self.set_real("turn", maximum(self.real("turn"), self._largest(self.turn())))
            running = e.emit(f"icmp eq i64 {self.count('status')}, {RUNNING}")  # else its equations were not solved
            when(e, running, lambda: when(e, finite, accept, lambda: self.set_count("status", NOT_FINITE)))

        def accept() -> None:
            self.set_count("sample_before", self.count("sample"))
            old = self.remember_state()
            self.over_state(lambda i: e.store(self.get(w["new"], i), w["y"], i))
            self.unit_quaternions()
            self.close_loops(self.real("t") + self.real("h"), old)
            when(e, e.emit(f"icmp eq i64 {self.count('status')}, {RUNNING}"), accepted)

        def accepted() -> None:
            self.add_count("steps")
            self.add_count("substep")
            self.set_real("t", self.real("t") + self.real("h"))
            done = e.emit(f"icmp sge i64 {self.count('substep')}, {self.count('substeps')}")
            when(e, done, sample)

        def sample() -> None:
            self.set_count("substep", 0)
            s = self.count("sample")
            self.set_real("t", e.symbol(e.splat(e.load_double(w["times"], s))))
            row = e.pointer(w["out"], e.integer("mul", s, w["padded"]))
            self.over_state(lambda i: e.store(self.get(w["y"], i), row, i))
            self.add_count("sample")

        while_(e, self.running, step)

    def new_state(self) -> None:
        """One step from y, into ``new``."""
        t = self.real("t")
        self.derivative(self.words["y"], self.k[0], t)
        self.trial(t, self.real("h"))
