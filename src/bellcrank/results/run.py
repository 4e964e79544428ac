"""Run: what a simulation computed, as arrays with names and units.

The states are kept as plain arrays; labels are put on and derived quantities computed when they are first asked for, so
that a fast run costs no more than its states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import StateError, warn
from ..wording import counted
from .labels import Labels

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from ..model import Model
    from ..viewer.browser.page import Page
    from ..viewer.pictures.animation import MovingPicture
    from .summary import Summary


class FinalState(NamedTuple):
    """The end of a run: coordinates (nq,), velocities (nv,), time in s."""

    q: np.ndarray
    v: np.ndarray
    t: float


class ClosureError(NamedTuple):
    """Largest errors of the equations that close the loops: m (or rad), m/s, m/s2."""

    position: float
    velocity: float
    acceleration: float


class Run:
    """Samples of a motion: ``time`` (T,), ``q`` (T, nq), ``v`` and ``a`` (T, nv), and how they were computed.

    ``settings`` holds plain JSON values. ``stopped`` says why the run ended early, or is None. ``model`` is None for a run
    that was loaded from a file without it. ``derived`` holds what else is known of quantities.py; ``work`` can only come from
    there, since works are integrated along with the states. ``stretches`` is the model in machine code, if it is at hand:
    pairs of a first sample and what computed the run from there on.
    """

    def __init__(
        self,
        model: Model | None,
        time: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        settings: Mapping[str, Any],
        stopped: str | None = None,
        *,
        labels: Labels | None = None,
        derived: Mapping[str, np.ndarray] | None = None,
        stretches: Any = None,
    ) -> None:
        if labels is None:
            if model is None:
                raise StateError("a run needs its model, or the labels of one: both are None")
            labels = Labels.of(model, given_efforts=settings.get("tau") is not None)
        self.model = model
        self.labels = labels
        self.settings = dict(settings)
        self.stopped = stopped
        self.crossings: tuple[Any, ...] = ()  # of the events that were watched for
        self._stretches = stretches
        self._time = np.asarray(time, dtype=float)
        self._values = {name: np.asarray(x, dtype=float) for name, x in {"q": q, "v": v, "a": a}.items()}
        self._check_shapes()
        self._values.update(derived or {})

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return self.stopped is not None and self.stopped.startswith("interrupted")

    def _check_shapes(self) -> None:
        samples = self._time.size
        expected = {"q": len(self.labels.coordinates), "v": len(self.labels.dofs), "a": len(self.labels.dofs)}
        for name, width in expected.items():
            shape = self._values[name].shape
            if shape != (samples, width):
                raise StateError(f"run of {self.labels.model!r}: {name} has shape {shape}, expected {(samples, width)}")

    # The states

    @cached_property
    def time(self) -> xr.DataArray:
        """Sample times in seconds."""
        from .quantities import label_time

        return label_time(self._time)

    @cached_property
    def q(self) -> xr.DataArray:
        """Joint coordinates (time, coordinate)."""
        return self._labelled("q")

    @cached_property
    def v(self) -> xr.DataArray:
        """Joint velocities (time, dof)."""
        return self._labelled("v")

    @cached_property
    def a(self) -> xr.DataArray:
        """Joint accelerations (time, dof)."""
        return self._labelled("a")

    # What follows from the states

    @cached_property
    def energy(self) -> xr.Dataset:
        """``kinetic``, ``potential`` (gravity), ``stored`` (force elements) and ``total`` energy (time,) in J."""
        return self._side_by_side("kinetic", "potential", "stored", "total")

    @cached_property
    def work(self) -> xr.DataArray:
        """Work that each source has done since the start (time, source) in J; what an element stores is not in it.

        Sources are the force elements by name, ``drive of JOINT`` and, if the run had any, ``given efforts``.
        """
        return self._labelled("work")

    @cached_property
    def balance(self) -> xr.DataArray:
        """Total energy minus that at the start minus all works (time,) in J: zero but for the integrator's error."""
        return self._labelled("balance")

    @property
    def energy_error(self) -> float:
        """Largest imbalance of the energy, as a part of the largest energy that flows in the run.

        That is the largest of: kinetic energy (also between the samples), change of the potential and of the stored energy, and
        work of a source. An imbalance that rounding alone explains counts as none, so that a mechanism at rest has no error.
        """
        from .trust import energy_error

        return energy_error(self)

    def thinned(self, most: int) -> Run:
        """The run with at most so many of its samples, the first and the last among them."""
        if self._time.size <= most:
            return self
        kept = np.unique(np.linspace(0, self._time.size - 1, most).astype(int))
        arrays = {name: x[kept] for name, x in self._values.items() if len(x) == self._time.size}
        q, v, a = (arrays.pop(name) for name in ("q", "v", "a"))
        stretches = self._stretches and [(int(np.searchsorted(kept, first)), by) for first, by in self._stretches]
        thin: dict[str, Any] = {"labels": self.labels, "derived": arrays, "stretches": stretches}
        return Run(self.model, self._time[kept], q, v, a, self.settings, self.stopped, **thin)

    @cached_property
    def closing(self) -> xr.DataArray:
        """Coordinates of the joints that close loops (time, closing_coordinate): they follow from q, and are not in it."""
        return self._labelled("closing")

    @cached_property
    def closure(self) -> xr.Dataset:
        """Errors of the equations that close the loops: ``closure``, ``closure_rate``, ``closure_second`` (time, equation)."""
        return self._side_by_side("closure", "closure_rate", "closure_second")

    @property
    def closure_error(self) -> ClosureError:
        """The largest errors of the closures at any sample: of positions, velocities and accelerations; zero for trees."""
        names = ("closure", "closure_rate", "closure_second")
        return ClosureError(*(float(np.nanmax(np.abs(self.values(name)), initial=0.0)) for name in names))

    @cached_property
    def storage(self) -> xr.DataArray:
        """Energy stored in each force element (time, element) in J."""
        return self._labelled("storage")

    @cached_property
    def forces(self) -> xr.DataArray:
        """Force of each element (time, element): effort on its joint, tension, or the magnitude of a force vector."""
        return self._labelled("forces")

    @cached_property
    def drives(self) -> xr.DataArray:
        """Efforts of the prescribed motions (time, drive)."""
        return self._labelled("drives")

    @cached_property
    def states(self) -> xr.DataArray:
        """User-defined states (time, dof), which are the last entries of v; none in most models."""
        found = self.v[:, len(self.labels.dofs) - len(self.settings.get("states", ())) :]
        return found.rename("states").assign_attrs(long_name="user-defined states")

    @cached_property
    def inputs(self) -> xr.DataArray:
        """Values of the model's inputs (time, input)."""
        return self._labelled("inputs")

    @cached_property
    def measures(self) -> xr.DataArray:
        """Measures of the model (time, measure); a vector has three entries, ``tip.x``, ``tip.y``, ``tip.z``."""
        return self._labelled("measures")

    def measure(self, *names: str) -> xr.DataArray:
        """Any measures (time, measure): of the model by name, or those that every model has by path, "crank_pivot.fx"."""
        from .derived import measured
        from .quantities import label_measures

        if self.model is None:
            raise StateError("measures are computed from the model, which this run's file does not hold: Run.load(path, model)")
        found = self._computed(lambda at: measured(at, names))["measures"]  # not kept: the model's own are
        return label_measures(found, self._time, self.labels, names, self._stretches[0][1].measure_units(names))

    @cached_property
    def momentum(self) -> xr.Dataset:
        """``linear`` momentum and ``angular`` momentum about the world's origin (time, axis)."""
        return self._side_by_side("linear", "angular")

    @cached_property
    def reactions(self) -> xr.DataArray:
        """Force and moment of the parent on the child at each joint (time, joint, component), world axes.

        Those of the joints in ``attrs["not_unique"]`` are of least norm: see ``shared_reactions``. Couplers, in
        ``attrs["load_no_bearings"]``, act on coordinates alone; gears, racks and belts load the bearings, and their own entry
        is the wrench on their second body, at the pitch point, or of a belt at the centre of the second pulley.
        """
        found = self._labelled("reactions")
        plain = [c.name for c in (self.model.closures if self.model is not None else ()) if c.kind == "coupler" and not c.mesh]
        if plain:
            found.attrs["load_no_bearings"] = ", ".join(plain)
        if self.shared_reactions:
            found.attrs["not_unique"] = ", ".join(self.shared_reactions)
        return found

    @cached_property
    def shared_reactions(self) -> tuple[str, ...]:
        """Joints whose reactions are not unique, since loops have redundant equations: those given are of least norm."""
        if "shared_reactions" in self.settings or self.model is None:
            return tuple(self.settings.get("shared_reactions") or ())
        if not self.labels.equations or not self._time.size:
            return ()
        self._need_code()
        names: tuple[str, ...] = self._stretches[0][1].shared_reactions(self._values["q"][0], t=float(self._time[0]))
        return names

    @cached_property
    def positions(self) -> xr.DataArray:
        """Origins of the bodies (time, body, axis) in m, world axes."""
        return self._labelled("positions")

    @cached_property
    def rotations(self) -> xr.DataArray:
        """Rotation matrices (time, body, axis, body_axis), from body axes to world axes."""
        return self._labelled("rotations")

    def final_state(self) -> FinalState:
        """q, v and t of the last sample, from which a run can be continued."""
        if not self._time.size:
            raise StateError(f"the run of {self.labels.model!r} has no samples, and so no final state")
        return FinalState(self._values["q"][-1].copy(), self._values["v"][-1].copy(), float(self._time[-1]))

    # Reports

    def summary(self) -> Summary:
        """The most important numbers of the run; print it, or use ``.as_dict()``."""
        from .summary import summarize

        return summarize(self)

    def plot(
        self,
        names: Sequence[str] | str | Path | None = None,
        path: str | Path | None = None,
        *,
        over: str = "time",
        beside: Mapping[str, Run] | None = None,
        keep: bool = False,
    ) -> Figure:
        """A figure of the run, written to ``path`` (PNG, SVG, PDF by its ending) if one is given.

        names    what is drawn: measures of the model, or paths that every model has, "crank_pivot.q"; a panel
                 for each unit; and BODY.path or POINT.path, the curve along which a body's origin or a measured point moves.
                 Without them, the default figure: coordinates, velocities, energy, the largest reactions, works, measures
        over     the measure along the horizontal axis: "crank_pivot.v" over "crank_pivot.q" is a phase plot
        beside   other runs by name, whose curves are drawn too

        An existing file is replaced, here as in ``save`` and ``to_csv``; with ``keep`` it is an error.
        """
        from .chosen_plots import plot_chosen
        from .plots import plot_run

        if isinstance(names, str | Path):  # the first argument may be the file
            if path is not None:
                raise StateError(f"plot takes the names as a list, and then the file: run.plot([...], {str(names)!r})")
            names, path = None, names
        if names is None:
            if over != "time" or beside:
                raise StateError("give the names of what is drawn over a measure, or beside other runs: run.plot([...])")
            return plot_run(self, path, keep=keep)
        return plot_chosen(self, names, path, over=over, beside=beside or {}, keep=keep)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        points: Sequence[str] = (),
        forces: Sequence[str] = (),
        fps: float = 25.0,
        speed: float = 1.0,
        view: str = "auto",
        names: bool = False,
        keep: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> Path | MovingPicture:
        """Write the motion as a GIF, or as an MP4 where ffmpeg is installed, by the ending of ``path``.

        Without a path it is a GIF in memory, which a notebook shows below the cell.

        points    whose traces are drawn: joints, measured positions, bodies (centre of mass), BODY.POINT of the file
        forces    that are drawn as arrows: joints (on their child), springs, cables and actuators between points, contacts,
                  tyres, constant forces
        fps       frames per second
        speed     of the animation: 0.5 is half of real time
        view      see Model.draw; names: whether names are written
        progress  is called with the completed fraction after every frame
        """
        from ..viewer.pictures.animation import animate_run  # goes upward, when a picture is asked for

        chosen: dict[str, Any] = {"points": points, "forces": forces, "fps": fps, "speed": speed, "view": view, "names": names}
        return animate_run(self, path, **chosen, keep=keep, progress=progress)

    def view(self, *, host: str = "127.0.0.1", port: int = 8080, open_browser: bool = True) -> Page:
        """Show the motion in the browser, with forces, traces and plots; see Model.view."""
        from ..viewer.browser.page import view  # goes upward, when it is asked for

        return view(self, host=host, port=port, open_browser=open_browser)

    def write_html(self, path: str | Path, *, fps: float = 25.0, speed: float = 1.0, keep: bool = False) -> Path:
        """The motion as one HTML file that every browser plays, without a server or a network; see ``animate``."""
        from ..viewer.browser.page import write_html

        return write_html(self, path, fps=fps, speed=speed, keep=keep)

    def save(self, path: str | Path, *, keep: bool = False) -> Path:
        """Write everything to a NetCDF file. An existing one is replaced as a whole; with ``keep`` it is an error."""
        from .files.netcdf import save_run

        return save_run(self, path, keep=keep)

    def to_csv(self, path: str | Path, *, keep: bool = False) -> Path:
        """Write one wide table with a row for each sample: time, states, energies, works, forces, measures, reactions."""
        from .files.tables import write_csv

        return write_csv(self, path, keep=keep)

    @classmethod
    def load(cls, path: str | Path, model: Model | None = None) -> Run:
        """Read a run that ``save`` wrote. Give the model if more is to be computed from the states."""
        from .files.netcdf import load_run

        return load_run(path, model)

    def __getstate__(self) -> dict[str, Any]:
        """Machine code is not kept: it is made again where it is needed."""
        return self.__dict__ | {"_stretches": None}

    def __repr__(self) -> str:
        state = "stopped early" if self.stopped else "complete"
        samples, coordinates = (
            counted(self._time.size, "sample"),
            counted(len(self.labels.dofs) - len(self.settings.get("states", ())), "coordinate"),
        )
        return f"<Run of {self.labels.model!r}: {samples}, {coordinates}, {state}>"

    # Plain arrays

    def values(self, name: str) -> np.ndarray:
        """The plain array of a quantity (quantities.py lists their names), computed when first asked for."""
        if name == "time":
            return self._time
        if name not in self._values:
            self._values.update(self._derive(name))
        return self._values[name]

    def _derive(self, name: str) -> dict[str, np.ndarray]:
        from .derived import SUMS, SWEEPS

        if name == "inputs":
            return {name: np.tile(self._constant_inputs(), (self._time.size, 1))}
        if name == "anchors":
            return {name: np.zeros((self._time.size, len(self.labels.elements)))}
        if name in SUMS:
            return {name: SUMS[name](self.values)}
        size = {"work": self.labels.sources, **dict.fromkeys(("storage", "forces"), self.labels.elements)}
        size |= {"drives": self.labels.drives, "measures": self.labels.measures}
        size |= {"closing": self.labels.closing}
        size |= dict.fromkeys(("closure", "closure_rate", "closure_second"), self.labels.equations)
        if name in size and not size[name]:
            return {name: np.zeros((self._time.size, 0))}
        if name == "work":
            raise StateError("the works of this run are not known: they are integrated along by bellcrank.simulate")
        if name not in SWEEPS:
            known = ", ".join([*SWEEPS, *SUMS, "work", "inputs"])
            raise StateError(f"a run has no quantity {name!r}; it has time, q, v, a, {known}")
        if self.model is None:
            raise StateError(f"this run's file does not hold {name!r}; to compute it give the model: Run.load(path, model)")
        return self._swept(SWEEPS[name])

    def _computed(self, compute: Any) -> dict[str, np.ndarray]:
        from .derived import sweep

        assert self.model is not None
        self._need_code()
        tau = self._values.get("tau", self.settings.get("tau"))
        return sweep(compute, self.model, self.values, self._stretches, tau)

    def _swept(self, compute: Any) -> dict[str, np.ndarray]:
        """The result of ``compute``, kept for later; what is not a number is reported."""
        found = self._computed(compute)
        self._values.update(found)
        self._warn_of_missing(found)
        return found

    def _warn_of_missing(self, found: Mapping[str, np.ndarray]) -> None:
        """Warn of entries of what was just computed that are not finite numbers."""
        from .trust import REPORTED, not_finite

        doubts = [words for name in found if name in REPORTED and (words := not_finite(self, name)) is not None]
        if doubts:
            warn(f"run of {self.labels.model!r}: {'; '.join(doubts)}: not finite numbers")

    @property
    def dynamics(self) -> Any:
        """The compiled model of this run, a ``Dynamics``: ``run.dynamics.mass_matrix(q)`` and the like.

        Where the kept equations of closed loops were chosen anew during the run, it is the one of the first sample.
        """
        if self.model is None:
            raise StateError("this run was loaded without its model, and has no Dynamics: load it by Run.load(path, model)")
        self._need_code()
        return self._stretches[0][1]

    def _need_code(self) -> None:
        from .derived import compiled

        if self._stretches is None:
            assert self.model is not None
            self._stretches = compiled(self.model, self.settings, self._time, self._values["q"])

    def _constant_inputs(self) -> np.ndarray:
        given = self.settings.get("inputs")
        return np.zeros(len(self.labels.inputs)) if given is None else np.asarray(given, dtype=float)

    def _labelled(self, name: str) -> xr.DataArray:
        from .quantities import label

        return label(name, self.values(name), self._time, self.labels)

    def _side_by_side(self, *names: str) -> xr.Dataset:
        from .quantities import label_all

        return label_all({name: self.values(name) for name in names}, self._time, self.labels)
