"""Bars: how much a chosen output changes with each slider, by exact derivatives of the run."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import BellcrankError
from ...studies import sensitivity

if TYPE_CHECKING:
    from ...model import Model

NOTHING = "no output"
PART = 0.01  # a bar shows the effect of one per cent of the number
RISES, FALLS = "#0072b2", "#d55e00"


def outputs_of(model: Model) -> tuple[str, ...]:
    """Outputs to choose from: the last, the largest and the effective value of measures, else of coordinates."""
    names = model.measure_names or tuple(f"{joint}.q" for joint, kind in _simple(model))
    return tuple(text for name in names for text in (f"{name}@end", f"max({name})", f"rms({name})"))


def _simple(model: Model) -> list[tuple[str, str]]:
    return [(name, joint.kind) for name, joint in zip(model.joint_names, model.joints, strict=True) if joint.nq == 1]


def effects(model: Model, output: str, paths: list[str], options: Mapping[str, Any]) -> dict[str, float]:
    """The change of an output if a number grows by PART of itself (of one unit, where it is zero), for each of the paths."""
    found = sensitivity(model, paths, [output], **options)
    numbers = np.array([model.parameters[path] for path in paths], dtype=float)
    steps = PART * np.where(numbers == 0, 1.0, np.abs(numbers))
    return dict(zip(paths, (np.asarray(found.d(output)) * steps).tolist(), strict=True))


def as_bars(found: Mapping[str, float], output: str) -> str:
    """A row for each number: its name, a bar whose length is its part of the largest effect, and the effect."""
    largest = max((abs(value) for value in found.values()), default=0.0) or 1.0
    rows = [
        f'<tr><td style="padding-right:6px">{escape(path.removeprefix("parameters."))}</td>'
        f'<td style="width:45%"><div style="height:9px;width:{100 * abs(value) / largest:.1f}%;'
        f'background:{RISES if value >= 0 else FALLS}"></div></td>'
        f'<td style="text-align:right">{value:+.3g}</td></tr>'
        for path, value in sorted(found.items(), key=lambda item: -abs(item[1]))
    ]
    head = f"Change of {escape(output)} for +1 % of"
    return f'<div style="padding:0 8px;font-size:12px">{head}<table style="width:100%">{"".join(rows)}</table></div>'


class Bars:
    """The folder with the chosen output and its bars. They are computed when the sliders rest."""

    def __init__(self, server: Any, model: Model) -> None:
        self.outputs = outputs_of(model)
        self.found: dict[str, float] = {}
        with server.gui.add_folder("Sensitivity", expand_by_default=False):
            self.choice = server.gui.add_dropdown("Output", (NOTHING, *self.outputs), initial_value=NOTHING)
            self.html = server.gui.add_html("")

    def show(self, model: Model, paths: list[str], options: Mapping[str, Any]) -> None:
        """Compute and draw; what has no derivative says why."""
        output = self.choice.value
        if output == NOTHING or not paths:
            self.html.content = ""
            return
        try:
            self.found = effects(model, output, paths, options)
        except BellcrankError as error:
            self.html.content = f'<div style="padding:0 8px;font-size:12px">{escape(str(error).splitlines()[0])}</div>'
            return
        self.html.content = as_bars(self.found, output)
