"""Driven lengths: what they do to the start is said, and where they are at the end of their reach."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Mechanism
from bellcrank.model.builder import polynomial, rate

FAR = np.hypot(1.0, 0.8)  # from the hinge to the foot of the ram


def lift(law):
    """An arm of 1 m, lifted by a ram whose foot is 0.8 m below its tip as drawn."""
    m = Mechanism("lift")
    m.rod("arm", (0, 0, 0), (1, 0, 0), mass=5.0, radius=0.02)
    m.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="y")
    m.distance("ram", ("ground", (1, 0, -0.8)), ("arm", (1, 0, 0)), motion=law)
    return m.build()


def angle(length):
    """By the law of cosines: the arm turns up by the growth of the angle between arm and foot."""
    return np.arccos((1 + FAR**2 - length**2) / (2 * FAR)) - np.arctan(0.8)


def test_a_driven_length_that_is_not_the_drawn_one_says_how_far_it_moves_the_start():
    model = lift(rate(0.1, start=0.9))
    words = (
        rf"length of 'ram' is 0\.9 m at t = 0 s and 0\.8 m as drawn\. This moves the start: 'hinge' by -{angle(0.9):.4g} rad"
    )
    with pytest.warns(bc.BellcrankWarning, match=words):
        run = bc.simulate(model, duration=0.1)
    assert run.q.values[0, 0] == pytest.approx(-angle(0.9), abs=1e-9)
    assert any("0.8 m as drawn" in text for text in model.check().remarks)


def test_one_that_begins_as_drawn_says_nothing():
    model = lift(polynomial(0.8, 0.1))
    bc.simulate(model, duration=0.1)
    assert not any("as drawn" in text for text in model.check().remarks)


class TestPastItsReach:
    """The ram gets 1 + FAR m long, where arm and foot are in line."""

    model = lift(rate(1.0, start=0.8))

    def test_a_run_stops_there_and_says_so(self):
        with pytest.raises(bc.SimulationError, match=r"the driven length of 'ram' is at the end of its reach, 2\.28 m, and its law"
                           " asks for more. What was computed until then is kept") as stopped:  # fmt: skip
            bc.simulate(self.model, duration=3.0)
        assert "stiff" not in str(stopped.value)
        assert stopped.value.run.values("time")[-1] == pytest.approx(1 + FAR - 0.8, abs=0.05)

    def test_so_does_the_kinematic_analysis(self):
        found = bc.drive(self.model, times=np.linspace(0, 3, 7))
        assert found.limits[0].value == pytest.approx(1 + FAR - 0.8, abs=1e-5)
        assert "no configuration was found beyond (the driven length of 'ram' is at the end of its reach, 2.28 m" in str(found)

    def test_assembled_beyond_it_says_what_is_asked_and_how_near_it_gets(self):
        with pytest.raises(bc.AssemblyError, match=r"its law asks for 2\.8 m, and 2\.28 m is as near as it gets"):
            bc.assemble(self.model, t=2.0)

    def test_a_ram_that_goes_on_is_not_blamed(self):
        from bellcrank.run.reach import at_end_of_reach

        dyn = bc.compile(self.model, optimisation=0)
        assert at_end_of_reach(dyn, np.zeros(1), 0.0) == ""
