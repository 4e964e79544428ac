"""Sliders for a model: every change of a number, or of the start, is simulated at once; a handle moves it by hand."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...assembly import Given, assemble
from ...design import Design
from ...dynamics import Dynamics
from ...errors import BellcrankError, SimulationError
from ...io.native.writer import dumps
from ...model import Model
from ...run import simulate
from ..recording import Recording
from ..scene import Placement
from .bars import Bars
from .charts import Charts
from .details import as_plain
from .playback import Playback

if TYPE_CHECKING:
    from ...results import Run

FEW = 8  # sliders that are there from the start
CHOOSE = "choose a number"
PATIENCE = 5.0  # s to wait for a simulation when the page is closed
PAUSE = 0.15  # s without a change, after which the bars follow
SHARED = ("duration", "step", "method", "formulation", "rtol", "atol", "max_step", "tau", "inputs", "v", "projection")
TURN = 3.1416  # rad: half a turn, of the handle to either side
WIDE = 0.5  # a slider goes from half of the value to one and a half of it


def first_sliders(model: Model) -> list[str]:
    """Numbers that have a slider from the start: the parameters; of a model without any, those of springs and the masses."""
    numbers = model.parameters
    named = [path for path in numbers if path.startswith("parameters.")]
    elements, bodies = {element.name for element in model.elements}, set(model.body_names)
    ends = ((elements, ("stiffness", "damping", "length")), (bodies, ("mass",)))
    others = [f"{owner}.{end}" for owners, words in ends for owner in sorted(owners) for end in words]
    return (named or [path for path in others if numbers.get(path)])[:FEW]


class Bench:
    """A model, numbers that were changed, and the run that follows.

    The changed numbers are parameters of a Design, so that each run is planned and compiled only when another one is changed.
    """

    def __init__(self, model: Model, options: Mapping[str, Any]) -> None:
        self.original, self.options = model, dict(options)
        self.given_q = self.options.pop("q", None)
        self.changes: dict[str, float] = {}
        self.start: dict[str, float] = {}
        self.names: tuple[str, ...] = ()  # parameters of the design
        self._design: Design | None = None

    @property
    def model(self) -> Model:
        return self.original.with_parameters(self.changes) if self.changes else self.original

    def vary(self, *paths: str) -> None:
        """Numbers that will be changed."""
        self.names = tuple(dict.fromkeys((*self.names, *paths)))

    def design(self) -> Design | None:
        """The design with the changed numbers; None where nothing was changed."""
        if not self.changes:
            return None
        self.vary(*self.changes)
        if self._design is None or self._design.names != self.names:
            self._design = Design(self.original, self.names)
        return self._design.moved(self.changes)

    def run(self) -> Run:
        """The run of the changed model; of one that stops early, what there is."""
        try:
            moved = self.design()
            model = self.original if moved is None else moved.base
            return simulate(model, q=self.given_start(), design=moved, **self.options)
        except SimulationError as error:
            if error.run is None or not error.run.values("time").size:
                raise
            found: Run = error.run
            return found

    def given_start(self) -> Given:
        """The given start, with the coordinates that were moved."""
        if self.given_q is None or isinstance(self.given_q, Mapping):
            return {**(self.given_q or {}), **self.start} or None
        q = np.array(self.given_q, dtype=float)
        for name, value in self.start.items():
            q[self.original.q_names.index(name)] = value
        return q


class Workbench:
    """Sliders, the handle and the button that saves; simulations are done one at a time, always of the last values."""

    def __init__(self, server: Any, bench: Bench, playback: Playback, charts: Charts) -> None:
        self.server, self.bench, self.playback, self.charts = server, bench, playback, charts
        self.simulated = 0
        self._wanted, self._closed = threading.Event(), threading.Event()
        self._changed = threading.Event()  # since the last simulation
        self._sliders: dict[str, Any] = {}
        gui = server.gui
        self.folder = gui.add_folder("Design")
        with self.folder:
            self.message = gui.add_markdown("")
        numbers, first = bench.original.parameters, first_sliders(bench.original)
        for path in first:
            self.add_slider(path)
        with self.folder:
            others = [path for path in numbers if path not in first]
            self.more = gui.add_dropdown("Add a slider", (CHOOSE, *others), initial_value=CHOOSE, visible=bool(others))
            self.save = gui.add_button("Save the model file", disabled=bench.original.spec is None)
        self.more.on_update(lambda _: self.add_slider(self.more.value))
        self.bars = Bars(server, bench.original)
        self.bars.choice.on_update(lambda _: self._wanted.set())
        self.save.on_click(self._download)
        names = bench.original.q_names
        if names:
            with gui.add_folder("Start", expand_by_default=False):
                for name in names[:FEW]:
                    self._start_slider(name)
            with gui.add_folder("Move by hand", expand_by_default=False):
                self._handle(names)
        self._thread = threading.Thread(target=self._work, name="bellcrank-workbench", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End, after the simulation that is being done: the program may end next."""
        self._closed.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def add_slider(self, path: str) -> None:
        """A slider for a number of the model file."""
        if path in self._sliders or path not in self.bench.original.parameters:
            return
        self.bench.vary(path)
        value = self.bench.original.parameters[path]
        reach = WIDE * abs(value) or 1.0
        low, high = (float(f"{end:.4g}") for end in (value - reach, value + reach))  # few digits, which the page shows
        with self.folder:
            slider = self.server.gui.add_slider(path.removeprefix("parameters."), low, high, 2 * reach / 1000, value)
        slider.on_update(lambda _: self.change(path, slider.value))
        self._sliders[path] = slider

    def change(self, path: str, value: float) -> None:
        self.bench.changes[path] = float(value)
        self._simulate_soon()

    def _start_slider(self, name: str) -> None:
        place = self.bench.original.q_names.index(name)
        value = float(self.bench.original.initial_q[place])
        slider = self.server.gui.add_slider(name, value - 1.0, value + 1.0, 0.001, value)
        slider.on_update(lambda _: self._set_start(name, slider.value))

    def _set_start(self, name: str, value: float) -> None:
        self.bench.start[name] = float(value)
        self._simulate_soon()

    def _simulate_soon(self) -> None:
        self._changed.set()
        self._wanted.set()

    def _handle(self, names: tuple[str, ...]) -> None:
        """A coordinate that is moved while the others follow, from the position that is shown."""
        self.coordinate = self.server.gui.add_dropdown("Coordinate", names, initial_value=names[0])
        self.handle = self.server.gui.add_slider("Position", -TURN, TURN, 0.005, 0.0)
        self.handle.on_update(
            lambda event: None if event.client is None else self.move(self.coordinate.value, self.handle.value)
        )
        self._by_hand: tuple[Dynamics, np.ndarray] | None = None

    def move(self, name: str, value: float) -> None:
        """Move a coordinate to a value, loops closed, on the branch on which the mechanism is."""
        self.playback.play.value = False
        model = self.playback.recording.scene.model
        if self._by_hand is None or self._by_hand[0].model is not model:
            self._by_hand = Dynamics(model, optimisation=0), np.array(model.initial_q)
        dynamics, q = self._by_hand
        near = q.copy()
        near[model.q_names.index(name)] = value
        try:
            if model.closures:
                near = assemble(dynamics, near, np.zeros(model.nv), hold=name).q
        except BellcrankError as error:
            self.message.content = as_plain(str(error).splitlines()[0])
            return
        self._by_hand = dynamics, near
        self.message.content = ""
        self.playback.stage.show(Placement(*dynamics.poses(near)))

    def _work(self) -> None:
        while not self._closed.is_set():
            self._wanted.wait()
            self._wanted.clear()
            if self._closed.is_set():
                return
            if self._changed.is_set():
                self._changed.clear()
                self.simulate()
            if not self._wanted.wait(PAUSE):  # no slider has moved since
                self.compare()

    def compare(self) -> None:
        """Bars of the chosen output for the present numbers."""
        options = {name: value for name, value in self.bench.options.items() if name in SHARED}
        self.bars.show(self.bench.model, list(self._sliders), options | {"q": self.bench.given_start()})

    def simulate(self) -> None:
        """Simulate the present numbers and show what comes out, or why nothing does."""
        try:
            run = self.bench.run()
            recording = Recording(run)
        except BellcrankError as error:
            self.message.content = as_plain(str(error).splitlines()[0])
            return
        self.message.content = "" if run.stopped is None else as_plain(f"stopped early: {run.stopped}")
        self.playback.stage.set(recording.scene)
        self.playback.replace(recording)
        self.charts.refresh()
        self.simulated += 1

    def _download(self, event: Any) -> None:
        """The model file with the present numbers goes to the browser that asked for it."""
        text = dumps(self.bench.model).encode()
        event.client.send_file_download(f"{self.bench.original.name}.toml", text, save_immediately=True)
