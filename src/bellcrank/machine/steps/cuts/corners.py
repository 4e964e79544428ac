"""Corners: times at which the equations of motion are not smooth. A step ends there, and the next begins just after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....numbers import Condition, Number, maximum, select

if TYPE_CHECKING:
    from ..stepper import Stepper

NEVER = 1e300  # s: a corner after the last
_ROUNDING = 1e-15  # of a time


def just_before(time: Any) -> Any:
    """A time at which what holds until then still holds, over any number."""
    return time - _ROUNDING * abs(time)


def just_after(time: Any) -> Any:
    return time + _ROUNDING * abs(time)


def start_of_step(stepper: Stepper) -> Number:
    """The time, just after a corner: what begins there has begun."""
    return maximum(stepper.real("t"), stepper.real("earliest"))


def pass_corner(stepper: Stepper, passed: Condition) -> None:
    """Where a corner has been reached, goes on to the next one."""
    s, e, w = stepper, stepper.e, stepper.words

    def act() -> None:
        s.set_real("earliest", select(passed, just_after(s.real("corner")), s.real("earliest")))
        for lane in range(s.lanes):
            w["corner"].put_integer(lane, w["corner"].integer(lane) + e.one_if(passed, lane))
        following = e.of_lanes(w["corners"], w["corner"].integer)
        s.set_real("corner", following)
        s.set_real("latest", just_before(following))

    e.when(s.any(passed), act)
