"""What a method steps over: told before the run."""

from __future__ import annotations

from ...errors import warn
from ...machine.steps.cuts.known import known_surfaces, known_times
from ...model import Model
from ...wording import argument


def tell_uncut(model: Model, method: str, first: float, last: float) -> None:
    """Of a method that cuts no steps: stops, and tables over time that have knots inside the run."""
    names = (
        [element.name for element in model.elements if element.kind == "joint_stop"]
        if len(known_surfaces(model).places)
        else []
    )
    what = [f"stops ({', '.join(map(repr, names[:3]))}{', ...' if len(names) > 3 else ''})"] if names else []
    what += ["tables over time"] if len(known_times(model, first, last)) else []
    if what:
        warn(
            f"model {model.name!r} has {' and '.join(what)}, and {method} does not end its steps there: what happens within a step "
            f"may be missed. Give a short {argument('max_step')}, or use another method."
        )
