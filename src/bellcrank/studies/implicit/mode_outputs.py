"""Outputs of modes: "frequency" of all of them, or "mode1.frequency" as tables number them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ...errors import StateError
from ...wording import did_you_mean
from ..outcome import OutputValue
from ..output_names import must_be_names
from .equations import Array
from .vibration import Complex, Roots

TURN = 2 * np.pi


def _size(s: Complex, ds: Complex) -> tuple[Array, Array]:
    size = np.abs(s)
    with np.errstate(all="ignore"):
        slopes = np.real(np.conj(s)[:, None] * ds) / size[:, None]
    return size, np.where(size[:, None] > 0, slopes, 0.0)


def _frequency(s: Complex, ds: Complex) -> tuple[Array, Array]:
    return np.abs(s.imag) / TURN, np.sign(s.imag)[:, None] * ds.imag / TURN


def _natural_frequency(s: Complex, ds: Complex) -> tuple[Array, Array]:
    size, slopes = _size(s, ds)
    return size / TURN, slopes / TURN


def _damping(s: Complex, ds: Complex) -> tuple[Array, Array]:
    """-Re s/|s|; none of a rigid-body mode."""
    size, slopes = _size(s, ds)
    with np.errstate(all="ignore"):
        ratio = -s.real / size
        return ratio, (-ds.real - ratio[:, None] * slopes) / size[:, None]


def _time_constant(s: Complex, ds: Complex) -> tuple[Array, Array]:
    """1/|Re s|; none where nothing decays or grows."""
    with np.errstate(all="ignore"):
        value = np.where(s.real != 0, 1 / np.abs(s.real), np.nan)
        return value, -np.sign(s.real)[:, None] * ds.real * value[:, None] ** 2


def _real(s: Complex, ds: Complex) -> tuple[Array, Array]:
    return s.real, ds.real


def _imaginary(s: Complex, ds: Complex) -> tuple[Array, Array]:
    return s.imag, ds.imag


KINDS: dict[str, tuple[Callable[[Complex, Complex], tuple[Array, Array]], str]] = {
    "frequency": (_frequency, "Hz"),
    "natural_frequency": (_natural_frequency, "Hz"),
    "damping": (_damping, "1"),
    "time_constant": (_time_constant, "s"),
    "real": (_real, "1/s"),
    "imag": (_imaginary, "1/s"),
}


def found_of_modes(outputs: Sequence[str], roots: Roots) -> dict[str, OutputValue]:
    s = np.array([mode.root for mode in roots.modes], dtype=complex)
    return {name: _found(name, s, roots.slopes) for name in must_be_names(outputs)}


def asked_of_modes(name: str) -> tuple[str, int | None]:
    """The quantity that an output names, and its mode, counted from 0; None: of all."""
    asked = re.fullmatch(r"(?:mode\s*(\d+)\s*\.)?\s*(\w+)", name.strip())
    kind = asked[2] if asked else ""
    if not asked or kind not in KINDS:
        hint = did_you_mean(kind, list(KINDS))
        raise StateError(
            f"output {name!r}: modes have {', '.join(KINDS)}{hint}. Write {next(iter(KINDS))!r} for all of them, or "
            f"'mode1.{next(iter(KINDS))}' for the first."
        )
    return kind, None if asked[1] is None else int(asked[1]) - 1


def _found(name: str, s: Complex, slopes: Complex) -> OutputValue:
    kind, k = asked_of_modes(name)
    of, unit = KINDS[kind]
    value, along = of(s, slopes)
    if k is None:
        return OutputValue(value, along, unit, None, "mode")
    if not 0 <= k < len(s):
        raise StateError(f"output {name!r}: there are {len(s)} modes, counted from 1")
    return OutputValue(np.array(value[k]), along[k], unit, None)
