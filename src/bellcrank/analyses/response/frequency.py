"""Frequency response: how measures answer steady oscillations of efforts, inputs and drives, about a position of rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...dynamics.dynamics import Dynamics
from ...errors import DynamicsError, StateError, warn
from ...extremes import in_our_errors
from ...model import Model
from ...model.measures.columns import EFFORT
from ...results.labels import Labels
from ...wording import did_you_mean
from ..motions.kinematics import frozen
from ..report import table
from ..resting import resting_place
from ..state import compiled, conditions, increasing, position, vector
from ..vibration import Modes, modes
from .harmonic import Excitation, Harmonic
from .released import AtRest, at_rest
from .spectra import Spectrum, SpectrumResponse, density

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure
    from rich.console import Group

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

POINTS = 300  # frequencies, unless they are given
LEAST, WIDTH = 1e-6, 1e-3  # damping ratio below which a mode counts as undamped; how near its peak is then looked at
NEAR = np.array([-30, -10, -5, -3, -2, -1.5, -1, -0.6, -0.3, 0, 0.3, 0.6, 1, 1.5, 2, 3, 5, 10, 30])  # half widths of a peak


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Outputs over excitations at k frequencies.

    frequencies              (k,) Hz
    values                   (k, outputs, excitations), complex
    excitations, outputs     names; excitation_units, output_units
    q                        (nq,) the position of rest about which they are
    """

    model: Model
    frequencies: Array
    values: Complex
    excitations: tuple[str, ...]
    outputs: tuple[str, ...]
    excitation_units: tuple[str, ...]
    output_units: tuple[str, ...]
    q: Array

    def of(self, output: str, excitation: str | None = None) -> Complex:
        """One output over one excitation, (k,); the excitation may be left out where there is one."""
        if output not in self.outputs:
            hint = did_you_mean(output, self.outputs)
            raise StateError(f"there is no output {output!r}{hint}: use one of {', '.join(self.outputs)}")
        return np.asarray(self.values[:, self.outputs.index(output), self._column(excitation)])

    def _column(self, excitation: str | None) -> int:
        if excitation is None and len(self.excitations) == 1:
            return 0
        if excitation not in self.excitations:
            what = "say which excitation is meant" if excitation is None else f"there is no excitation {excitation!r}"
            raise StateError(f"{what}: use one of {', '.join(self.excitations)}")
        return self.excitations.index(excitation)

    def spectrum(self, of: Spectrum, excitation: str | None = None) -> SpectrumResponse:
        """The outputs where one excitation is random, with the one-sided power spectral density ``of``: |H|^2 S.

        of   a function of the frequency in Hz (road_spectrum), a number, or a pair (frequencies, densities), which is joined by
             straight lines in logarithms and zero beyond its ends; in the excitation's unit squared over Hz
        """
        column = self._column(excitation)
        S = density(of, self.frequencies)
        out = np.abs(self.values[:, :, column]) ** 2 * S[:, None]
        name = self.excitations[column]
        return SpectrumResponse(self.model.name, self.frequencies, S, out, self.outputs, self.output_units, name)

    @property
    def data(self) -> xr.Dataset:
        """Magnitude and phase (frequency, output, excitation) as labelled arrays."""
        import xarray as xr

        dims = ("frequency", "output", "excitation")
        arrays: dict[str, Any] = {"magnitude": (dims, np.abs(self.values))}
        arrays["phase"] = (dims, np.angle(self.values), {"units": "rad"})
        coords = {
            "frequency": ("frequency", self.frequencies, {"units": "Hz"}),
            "output": ("output", np.array(self.outputs, dtype=object)),
            "output_unit": ("output", np.array(self.output_units, dtype=object)),
            "excitation": ("excitation", np.array(self.excitations, dtype=object)),
            "excitation_unit": ("excitation", np.array(self.excitation_units, dtype=object)),
        }
        return xr.Dataset(arrays, coords=coords, attrs={"model": self.model.name})

    def plot(self, path: str | Path | None = None, *, keep: bool = False) -> Figure:
        """A Bode plot: magnitudes and phases over the frequency. Written to ``path`` if given."""
        from .plots import bode

        return bode(self, path, keep=keep)

    def rows(self) -> list[tuple[str, ...]]:
        """For each pair of output and excitation: the value at the lowest frequency, and the peak with its frequency."""
        found: list[tuple[str, ...]] = []
        for j, excitation in enumerate(self.excitations):
            for i, output in enumerate(self.outputs):
                size = np.abs(self.values[:, i, j])
                top = int(np.nanargmax(size)) if np.isfinite(size).any() else 0
                unit = f"{self.output_units[i] or '1'} / {self.excitation_units[j] or '1'}"
                sizes = f"{size[0]:.6g}", f"{size[top]:.6g}", f"{self.frequencies[top]:.6g}"
                found.append((output, excitation, *sizes, unit))
        return found

    @property
    def _title(self) -> str:
        low, high = self.frequencies[0], self.frequencies[-1]
        return f"{self.model.name}: frequency response from {low:.6g} to {high:.6g} Hz, about a position of rest"

    def __rich__(self) -> Group:
        headings = ("output", "excitation", f"at {self.frequencies[0]:.4g} Hz", "peak", "at Hz", "unit")
        return table(self._title, headings, self.rows(), right=(2, 3, 4))

    def __str__(self) -> str:
        return "\n".join([self._title, *("  ".join(row) for row in self.rows())])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "model": self.model.name,
            "frequencies": self.frequencies.tolist(),
            "excitations": dict(zip(self.excitations, self.excitation_units, strict=True)),
            "outputs": dict(zip(self.outputs, self.output_units, strict=True)),
            "q": dict(zip(self.model.q_names, self.q.tolist(), strict=True)),
            "real": self.values.real.tolist(),
            "imaginary": self.values.imag.tolist(),
        }


@in_our_errors(DynamicsError)
def frequency_response(
    model: Model,
    excite: Sequence[str] | str | None = None,
    outputs: Sequence[str] | str | None = None,
    frequencies: ArrayLike | None = None,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    t: float = 0.0,
) -> FrequencyResponse:
    """The response of a mechanism at rest to small steady oscillations, exact to rounding.

    excite       what oscillates: inputs of the model by name; driven joints, whose motion is disturbed ("road", or "table.x" of
                 one with several coordinates); efforts on joints, "tau of hinge". All inputs and drives if not given
    outputs      measures, paths that every model has, "chassis.az", formulas over them, and "road.effort" of a drive. All
                 measures of the model, or its coordinates if it has none, unless given
    frequencies  Hz, increasing; if not given, from below the slowest to above the fastest mode, denser at its peaks
    q            the position of rest; that of equilibrium if not given
    v            with q: velocities of zero, and user-defined states at rest; those of the model's start if not given
    tau, inputs, t   what acts at rest, and when: prescribed motions stand still as they are then
    """
    still = frozen(model, t)
    dyn = compiled(still)
    given = conditions(dyn, tau, inputs, t)
    if q is None and v is not None:
        raise StateError("v goes with a position of rest: give q too, or leave v out")
    if q is None:
        found_at = resting_place(still, tau=given.tau, inputs=given.inputs, t=t)
        rest, own, found = found_at.q, found_at.v, modes(still, found_at) if model.nv else None
    else:
        rest, own = position(dyn, q), _states(dyn, v)
        found = modes(still, rest, v=own, tau=given.tau, inputs=given.inputs, t=t) if model.nv else None
    if found is not None and not found.stable:
        warn(f"model {model.name!r} runs away from this position of rest: its frequency response is that of no steady motion")
    at = at_rest(model, rest, own, given)
    excited = _excitations(model, at, excite)
    wanted = _names("outputs", outputs, model.measure_names or model.q_names)
    f = _frequencies(found) if frequencies is None else _not_negative(increasing("frequencies", frequencies))
    names, place, units = _outputs(at, wanted)
    harmonic = Harmonic(at, list(excited.values()), names)
    values = np.array([harmonic.at(x)[place] for x in f.tolist()])
    return FrequencyResponse(
        model, f, values, tuple(excited), tuple(wanted), tuple(x.unit for x in excited.values()), units, rest
    )


def _states(dyn: Dynamics, v: ArrayLike | None) -> Array:
    """Velocities of zero, with user-defined states."""
    speeds = vector(dyn, "v", np.zeros(dyn.model.nv) if v is None else v)
    own = list(dyn.model.state_places)
    if np.delete(speeds, own).any():
        raise StateError("a frequency response is one about rest: give velocities of zero, and user-defined states only")
    if v is None:
        speeds[own] = dyn.model.given_v[own]
    return speeds


def _not_negative(f: Array) -> Array:
    if f[0] < 0:
        raise StateError(f"frequencies must not be negative; the first is {f[0]:g} Hz")
    return f


def _names(what: str, given: Sequence[str] | str | None, all_of_them: Sequence[str]) -> list[str]:
    names = list(all_of_them) if given is None else [given] if isinstance(given, str) else list(given)
    if not names:
        raise StateError(f"there are no {what}: name some")
    return names


def _excitations(model: Model, at: AtRest, wanted: Sequence[str] | str | None) -> dict[str, Excitation]:
    labels = Labels.of(at.dyn.model)
    units = dict(zip(labels.dofs, labels.dof_units, strict=True))
    known = {name: Excitation("", "input", k) for k, name in enumerate(model.inputs)}
    known |= {name: Excitation(units[name].removesuffix("/s"), "drive", k) for k, name in enumerate(at.drives)}
    own = list(known)
    places = {name: k for k, name in enumerate(at.dyn.model.v_names)}
    moving = [name for name in model.v_names if name not in model.state_names]
    known |= {f"tau of {name}": Excitation(EFFORT[units[name]], "effort", places[name]) for name in moving}
    example = f", such as 'tau of {moving[0]}'" if moving else ""
    names = _names(f"excitations, since the model has neither inputs nor drives{example}", wanted, own)
    for name in names:
        if name not in known:
            raise StateError(f"there is no excitation {name!r}{did_you_mean(name, known)}: use one of {', '.join(known)}")
    return {name: known[name] for name in names}


def _outputs(at: AtRest, wanted: list[str]) -> tuple[list[str], list[int], tuple[str, ...]]:
    """Measures to be found, the place of each output among these and the efforts of drives, and their units."""
    model = at.dyn.model
    efforts = {f"{name}.effort": k for k, name in enumerate(at.drives)}
    names = [name for name in wanted if name not in efforts]
    place = [names.index(name) if name not in efforts else len(names) + efforts[name] for name in wanted]
    units = dict(zip(names, at.dyn.measure_units(names), strict=True))
    speeds = dict(zip(model.v_names, Labels.of(model).dof_units, strict=True))
    units |= {name: EFFORT[speeds[name.removesuffix(".effort")]] for name in efforts}
    return names, place, tuple(units[name] for name in wanted)


def _frequencies(found: Modes | None) -> Array:
    """Over all modes, and denser where they are lightly damped."""
    swinging = [] if found is None else [mode for mode in found.modes if mode.kind != "rigid" and mode.natural_frequency > 0]
    if not swinging:
        return np.geomspace(0.1, 100.0, POINTS)
    natural = np.array([mode.natural_frequency for mode in swinging])
    low, high = 0.1 * natural.min(), 10 * natural.max()
    points = [np.geomspace(low, high, POINTS)]
    for mode in swinging:
        if mode.kind == "oscillating":
            damping = abs(mode.damping or 0.0)
            width = damping if damping > LEAST else WIDTH
            points.append(mode.natural_frequency * (1 + width * (NEAR + 1e-3)))  # beside an undamped peak, not on it
    everything = np.unique(np.concatenate(points))
    return everything[(everything >= low) & (everything <= high)]
