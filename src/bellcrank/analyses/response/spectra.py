"""Random excitations by their spectra, and the spectra of the outputs that follow by a frequency response.

Power spectral densities are one-sided and over Hz: the mean square is the area below them, and of an output |H|^2 S.

ISO 8608:2016, Mechanical vibration - Road surface profiles - Reporting of measured data
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError
from ..report import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Group

Array = NDArray[np.float64]
Spectrum = Callable[[Array], Array] | float | tuple[Any, Any]

ROADS = "ABCDEFGH"
SMOOTHEST = 16e-6  # m3: of class A, at the reference of 0.1 cycles/m; each class has four times as much as the one before
REFERENCE = 0.1  # cycles/m
WAVES = (0.011, 2.83)  # cycles/m: those that the standard is about, of 91 m to 0.35 m


def road_spectrum(road: str, speed: float) -> Callable[[Array], Array]:
    """Height of a road of class "A" (very good) to "H" under a wheel at ``speed`` (m/s), in m2/Hz over the frequency in Hz.

    G(n) = G(n0) (n/n0)^-2 over the waves n per metre, G(n0) the geometric mean of the class, and f = n speed.
    """
    if not isinstance(road, str) or road not in tuple(ROADS):
        raise StateError(f"road is {road!r}: use a class of ISO 8608, one of {', '.join(ROADS)}")
    if not (isinstance(speed, int | float) and np.isfinite(speed) and speed > 0):
        raise StateError(f"speed must be a number of m/s, more than zero; it is {speed!r}")
    roughness = SMOOTHEST * 4.0 ** ROADS.index(road)

    def heights(f: Array) -> Array:
        n = np.asarray(f, dtype=float) / speed
        inside = (n >= WAVES[0]) & (n <= WAVES[1])
        return np.where(inside, roughness * (np.where(inside, n, 1.0) / REFERENCE) ** -2 / speed, 0.0)

    return heights


def density(of: Spectrum, f: Array) -> Array:
    """A spectrum at frequencies."""
    if isinstance(of, tuple):
        x, y = _numbers(of[0]), _numbers(of[1]) if len(of) == 2 else np.zeros(0)
        if x.ndim != 1 or x.shape != y.shape or len(x) < 2 or not ((np.diff(x) > 0).all() and x[0] > 0 and (y > 0).all()):
            raise StateError("a spectrum is a pair (frequencies, densities), as many of each, increasing and more than zero")
        values = np.exp(np.interp(np.log(np.maximum(f, x[0])), np.log(x), np.log(y)))
        return np.where((f >= x[0]) & (f <= x[-1]), values, 0.0)
    values = _numbers(of(f) if callable(of) else of)
    if values.shape not in ((), (1,), f.shape):
        raise StateError(f"the spectrum gives an array of shape {values.shape}: it must give a density for each frequency")
    if not np.isfinite(values).all() or (values < 0).any():
        raise StateError("a spectrum must be finite and not negative at all frequencies of the response")
    return np.array(np.broadcast_to(values, f.shape))


def _numbers(given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        hint = f"bc.road_spectrum({given!r}, speed=20.0)" if isinstance(given, str) and given in tuple(ROADS) else "a number"
        ways = f"give {hint}, a function of the frequency, or a pair (frequencies, densities)"
        raise StateError(f"{given!r} is not a spectrum: {ways}") from None


@dataclass(frozen=True, eq=False)
class SpectrumResponse:
    """Power spectral densities of the outputs, (k, outputs), where one excitation has the density ``excited`` (k,).

    units are those of the outputs; their densities are in the unit squared over Hz.
    """

    model: str
    frequencies: Array
    excited: Array
    densities: Array
    outputs: tuple[str, ...]
    units: tuple[str, ...]
    excitation: str

    @property
    def rms(self) -> dict[str, float]:
        """Root mean square of each output, from the frequencies that the response has."""
        areas = np.trapezoid(self.densities, self.frequencies, axis=0)
        return dict(zip(self.outputs, np.sqrt(areas).tolist(), strict=True))

    def plot(self, path: str | Path | None = None, *, keep: bool = False) -> Figure:
        """Densities over the frequency. Written to ``path`` if given."""
        from .plots import plot_spectrum

        return plot_spectrum(self, path, keep=keep)

    def rows(self) -> list[tuple[str, ...]]:
        return [(name, f"{x:.6g}", unit) for (name, x), unit in zip(self.rms.items(), self.units, strict=True)]

    @property
    def _title(self) -> str:
        span = f"{self.frequencies[0]:.4g} to {self.frequencies[-1]:.4g} Hz"
        return f"{self.model}: response to the spectrum of {self.excitation!r}, {span}"

    def __rich__(self) -> Group:
        return table(self._title, ("output", "root mean square", "unit"), self.rows(), right=(1,))

    def __str__(self) -> str:
        return "\n".join([self._title, *("  ".join(row) for row in self.rows())])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "model": self.model,
            "excitation": self.excitation,
            "rms": self.rms,
            "frequencies": self.frequencies.tolist(),
            "excited": self.excited.tolist(),
            "densities": dict(zip(self.outputs, self.densities.T.tolist(), strict=True)),
        }
