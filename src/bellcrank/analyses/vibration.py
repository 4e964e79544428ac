"""Natural modes: how a mechanism moves after a small disturbance.

Neighbouring motions obey M d'' + C d' + K d = 0 (stiffness.py). In modal coordinates of the undamped problem,
K_s phi = l M phi with K_s the symmetric part, w = sqrt|l|, and the state (w d, d') in them,

    [ 0                     w  ]
    [ -sign(l) w - N / w   -c  ]      c = phi^T C phi,  N = phi^T (K - K_s) phi

has entries of the size of the frequencies, not of their squares, so that slow modes beside fast ones keep their digits.
Directions with l = 0 (rigid-body modes) drop out of the first half: their displacement has no effect, which would otherwise
be a double root at zero that rounding splits. Without damping and with a potential nothing is left to do: the roots are +-i w.
About a state that moves, the roots are those of the linearized equations (linear.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eig, eigh

from ..dynamics.dynamics import Dynamics
from ..errors import DynamicsError, StateError, warn
from ..extremes import in_our_errors
from ..kernels.threads import interruptible
from ..model import Model
from ..wording import argument
from .linear import state_matrices
from .report import table
from .resting import Equilibrium, resting_place
from .state import closed_state, compiled, conditions, position, vector
from .stiffness import Conditions, effort_jacobians, first_of_largest, noise, pivots
from .ties import Ties

if TYPE_CHECKING:
    from rich.console import Group

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

KINDS = ("rigid", "oscillating", "decaying", "growing")
SYMMETRIC = 1e-10  # what is smaller, of the largest, is rounding
ROUNDING = 1e-13  # of a root, of the largest
EPSILON_RATE = 1e-12  # 1/s: slower than this nothing decays
SPLIT = 1e-6  # a double root at zero, of the largest, after rounding


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode: a root s and the displacements that go with it, their largest being 1.

    kind            "rigid": no stiffness and no damping, it drifts; "oscillating"; "decaying" or "growing" without oscillation
    root            1/s; of an oscillating mode the one with positive imaginary part
    shape           displacement of each coordinate by the names of v, and user-defined states; complex where phases differ
    measures        how much each measure of the model takes part: its change for this shape, in its unit for 1 rad or 1 m
    """

    kind: str
    root: complex
    shape: dict[str, complex]
    measures: dict[str, complex] = field(default_factory=dict)

    @property
    def frequency(self) -> float:
        """Frequency of the oscillation in Hz, damping included; zero if it does not oscillate."""
        return abs(self.root.imag) / (2 * np.pi)

    @property
    def natural_frequency(self) -> float:
        """|s|, in Hz: of an oscillating mode what it would be without its damping."""
        return abs(self.root) / (2 * np.pi)

    @property
    def damping(self) -> float | None:
        """Damping ratio -Re s/|s|; negative: grows. None for a rigid-body mode."""
        return None if self.kind == "rigid" else -self.root.real / abs(self.root)

    @property
    def time_constant(self) -> float | None:
        """Time in s in which the amplitude falls (or grows) by the factor e; None if it does neither."""
        return 1 / abs(self.root.real) if self.root.real else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "frequency_hz": self.frequency,
            "natural_frequency_hz": self.natural_frequency,
            "damping_ratio": self.damping,
            "time_constant_s": self.time_constant,
            "root": [self.root.real, self.root.imag],
            "shape": {name: [x.real, x.imag] for name, x in self.shape.items()},
            "measures": {name: [x.real, x.imag] for name, x in self.measures.items()},
        }

    def main_parts(self, most: int = 3) -> str:
        """The coordinates that move most, with sign: "1 upper, -0.82 lower"."""
        largest = sorted(self.shape.items(), key=lambda item: -abs(item[1]))[:most]
        return ", ".join(_part(x, name) for name, x in largest if abs(x) > 0.01)


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of a mechanism about a state, slowest first; rigid-body modes before all."""

    model: Model
    modes: tuple[Mode, ...]
    q: Array
    v: Array
    about: str
    given: Conditions

    def measure(self, *names: str) -> Complex:
        """How much measures take part, (modes, columns): as Mode.measures, of any measures, paths, "hinge.fx", or formulas."""
        return participation(compiled(self.model), self.modes, self.q, self.v, self.given, names or None)

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, k: int) -> Mode:
        return self.modes[k]

    @property
    def rigid(self) -> tuple[Mode, ...]:
        return self.of("rigid")

    @property
    def oscillating(self) -> tuple[Mode, ...]:
        return self.of("oscillating")

    @property
    def stable(self) -> bool:
        """Nothing grows."""
        return all(mode.root.real <= 0 for mode in self.modes)

    def of(self, kind: str) -> tuple[Mode, ...]:
        if kind not in KINDS:
            raise StateError(f"there is no kind of mode {kind!r}: use one of {', '.join(KINDS)}")
        return tuple(mode for mode in self.modes if mode.kind == kind)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {
            "model": self.model.name,
            "about": self.about,
            "q": dict(zip(self.model.q_names, self.q.tolist(), strict=True)),
            "stable": self.stable,
            "modes": [mode.as_dict() for mode in self.modes],
        }

    def rows(self) -> list[tuple[str, ...]]:
        return [_row(k + 1, mode) for k, mode in enumerate(self.modes)]

    def __rich__(self) -> Group:
        return table(self._title, HEADINGS, self.rows(), right=(0, 2, 3, 4))

    @property
    def _title(self) -> str:
        return f"{self.model.name}: " + (f"modes about {self.about}" if self.modes else "no modes, nothing is free to move")

    def __str__(self) -> str:
        rows = [HEADINGS, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADINGS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self._title, *lines])


HEADINGS = ("", "kind", "Hz", "damping", "time constant", "moves most")


@in_our_errors(DynamicsError)
def modes(
    model: Model,
    about: str | Equilibrium | ArrayLike = "equilibrium",
    *,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    t: float = 0.0,
) -> Modes:
    """Frequencies, damping and shapes of small motions.

    about    "equilibrium" (found from the model's start), "start" (the model's start itself, with its velocities), an
             Equilibrium, or a position q, with ``v`` if it moves
    tau, inputs, t   what acts, and when; an Equilibrium brings its own

    A state that accelerates gives a warning: its modes are valid only for an instant.
    """
    if isinstance(about, Equilibrium):
        if about.model is not model:
            raise StateError(f"the equilibrium is that of {about.model.name!r}, not of this model: find it again")
        tau, inputs, t = about.tau, about.inputs, about.t
    dyn = compiled(model)
    given = conditions(dyn, tau, inputs, t)
    q, moving, label = _about(dyn, about, v, given)
    a = dyn.acceleration(q, moving, given.tau, t=given.t, inputs=given.inputs)
    if not isinstance(about, Equilibrium) and label != "equilibrium":
        _warn_of_acceleration(dyn, a, given)
    still = not moving.any() and not model.state_places
    roots = _roots_at_rest(dyn, q, a, given) if still else _roots_in_motion(dyn, q, moving, given)
    found = [_mode(model, kind, root, shape) for kind, root, shape in _untangled(roots)]
    found.sort(key=lambda mode: (mode.kind != "rigid", abs(mode.root), mode.root.real))
    if model.measures and found:
        parts = participation(dyn, found, q, moving, given).tolist()
        found = [
            replace(mode, measures=dict(zip(model.measure_names, part, strict=True)))
            for mode, part in zip(found, parts, strict=True)
        ]
    return Modes(model, tuple(found), q, moving, label, given)


def participation(
    dyn: Dynamics, found: Sequence[Mode], q: Array, v: Array, given: Conditions, names: Sequence[str] | None = None
) -> Complex:
    """The change of measures in each mode, (modes, columns): d, d' = s d, and the accelerations that follow."""
    J = dyn.measure_jacobians(q, v, given.tau, t=given.t, inputs=given.inputs, names=names)
    d = np.array([list(mode.shape.values()) for mode in found], dtype=complex).reshape(len(found), dyn.model.nv)
    speeds = np.array([mode.root for mode in found])[:, None] * d
    own = list(dyn.model.state_places)
    speeds[:, own] = d[:, own]
    return np.asarray(d @ J.dq.T + speeds @ J.dv.T)


def _about(dyn: Dynamics, about: Any, v: ArrayLike | None, given: Conditions) -> tuple[Array, Array, str]:
    model = dyn.model
    still = np.zeros(model.nv)
    if isinstance(about, Equilibrium) or (isinstance(about, str) and about == "equilibrium"):
        if v is not None:
            raise StateError(f"an equilibrium is at rest: give v only with a position or {argument('about', 'start')}")
        if not isinstance(about, Equilibrium):
            about = resting_place(model, tau=given.tau, inputs=given.inputs, t=given.t)
        return about.q, about.v, "equilibrium"
    if isinstance(about, str):
        if about != "start":
            raise StateError(f"about must be 'equilibrium', 'start', an Equilibrium or a position q; it is {about!r}")
        speed = None if v is None else vector(dyn, "v", v)
        return *closed_state(dyn, None, speed, given.t), "the start"
    return *closed_state(dyn, position(dyn, about), still if v is None else vector(dyn, "v", v), given.t), "the given state"


def _warn_of_acceleration(dyn: Dynamics, a: Array, given: Conditions) -> None:
    scale = np.abs(dyn.model.gravity).max() + 1.0
    worst = int(np.argmax(np.abs(a))) if len(a) else -1
    if worst >= 0 and abs(a[worst]) > 1e-9 * scale:
        warn(
            f"this state is not an equilibrium: {dyn.model.v_names[worst]!r} accelerates at {a[worst]:.4g}. Its modes are "
            f"valid only for an instant; {argument('about', 'equilibrium')} finds one."
        )


class _Root(NamedTuple):
    kind: str
    root: complex
    shape: Complex


def _roots_at_rest(dyn: Dynamics, q: Array, a: Array, given: Conditions) -> list[_Root]:
    still, ties = np.zeros(dyn.model.nv), Ties(dyn, given.t)
    basis = ties.basis(q)
    n = basis.shape[1]
    if n == 0:
        return []
    M = dyn.mass_matrix(q, t=given.t)
    multipliers = dyn.multipliers(q, still, given.tau, t=given.t, inputs=given.inputs) if ties.any else None
    K, C = effort_jacobians(dyn, q, still, a, given, multipliers)
    if ties.any:
        M, K, C = (basis.T @ X @ basis for X in (M, K, C))
    squares, phi = interruptible(eigh, (K + K.T) / 2, M)
    zero = np.abs(squares) <= noise(dyn.model, squares)
    w = np.sqrt(np.abs(squares))
    c, N = phi.T @ C @ phi, phi.T @ (K - K.T) @ phi / 2
    fastest = float(w.max())
    damped = np.abs(c).max() > SYMMETRIC * max(fastest, EPSILON_RATE)
    bent = np.abs(N).max() > SYMMETRIC * fastest**2
    if not damped and not bent:
        return [r for k in range(n) for r in _undamped(squares[k], bool(zero[k]), basis @ phi[:, k])]
    coupled = zero & (np.abs(N).max(axis=0) > SYMMETRIC * fastest**2)  # by the forces without potential
    w[coupled] = fastest
    return _damped(squares, zero & ~coupled, w, c, N if bent else np.zeros_like(N), basis @ phi)


def _undamped(square: float, rigid: bool, phi: Array) -> list[_Root]:
    w = float(np.sqrt(abs(square)))
    shape = phi.astype(complex)
    if rigid:
        return [_Root("rigid", 0j, shape)]
    if square > 0:
        return [_Root("oscillating", complex(0, w), shape)]
    return [_Root("growing", complex(w), shape), _Root("decaying", complex(-w), shape)]


def _damped(squares: Array, zero: NDArray[np.bool_], w: Array, c: Array, N: Array, phi: Array) -> list[_Root]:
    n, kept = len(w), np.flatnonzero(~zero)
    m = len(kept)
    A = np.zeros((m + n, m + n))
    A[np.arange(m), m + kept] = w[kept]
    A[m + kept, np.arange(m)] = -squares[kept] / w[kept]
    A[m:, :m] -= N[:, kept] / w[kept]
    A[m:, m:] = -c
    roots, vectors = interruptible(eig, A)
    roots = _without_rounding(roots)
    slowest = ROUNDING * np.abs(roots).max()
    found = []
    for s, x in zip(roots, vectors.T, strict=True):
        rigid = abs(s) <= slowest
        d = x[m:] if rigid else x[m:] / s  # d' = s d; a rigid-body mode moves along its velocity
        found += _kind(complex(0 if rigid else s), phi @ d, rigid)
    return found


def _roots_in_motion(dyn: Dynamics, q: Array, v: Array, given: Conditions) -> list[_Root]:
    about = state_matrices(dyn, q, v, given)
    n = about.N.shape[1]
    if n == 0:
        return []
    roots, vectors = interruptible(eig, about.A)
    roots = _without_rounding(roots)
    slowest = SPLIT * np.abs(roots).max()
    found, velocities = [], 0
    for s, x in zip(roots, vectors.T, strict=True):
        rigid = abs(s) <= slowest
        velocities += rigid
        if rigid and velocities % 2 == 0:  # a displacement and its velocity are one mode
            continue
        shape = about.C[: dyn.model.nv] @ x
        shape[list(dyn.model.state_places)] = x[len(x) - len(dyn.model.state_places) :]
        found += _kind(complex(0 if rigid else s), shape, rigid)
    return found


def _untangled(roots: list[_Root]) -> list[_Root]:
    """Rigid-body modes span a space: its basis is chosen so that each moves one coordinate that no other moves."""
    rigid, rest = [r for r in roots if r.kind == "rigid"], [r for r in roots if r.kind != "rigid"]
    if not rigid:
        return rest
    shapes = np.array([r.shape.real for r in rigid]).T
    basis = shapes @ np.linalg.pinv(shapes[pivots(shapes)])
    basis[np.abs(basis) < 1e-12] = 0.0
    return [_Root("rigid", 0j, column.astype(complex)) for column in basis.T] + rest


def _without_rounding(roots: Complex) -> Complex:
    """Real parts that rounding explains become zero, so that what is undamped does not seem to grow."""
    real = np.where(np.abs(roots.real) <= ROUNDING * np.abs(roots).max(), 0.0, roots.real)
    return np.asarray(real + 1j * roots.imag)


def _kind(s: complex, shape: Complex, rigid: bool) -> list[_Root]:
    """The kind of a mode by its root; of a pair of complex roots only one is listed."""
    if rigid:
        return [_Root("rigid", 0j, shape)]
    if abs(s.imag) > 1e-12 * abs(s):
        return [_Root("oscillating", s, shape)] if s.imag > 0 else []
    return [_Root("growing" if s.real > 0 else "decaying", complex(s.real), shape)]


def _mode(model: Model, kind: str, root: complex, shape: Complex) -> Mode:
    moving = shape[: model.nv - len(model.state_places)]
    compared = moving if moving.any() else shape  # a user-defined state has a unit of its own
    largest = compared[first_of_largest(np.abs(compared))] if len(compared) else 1.0
    scaled = shape / largest if largest else shape
    scaled = np.where(np.abs(scaled.imag) < 1e-12, scaled.real, scaled)
    return Mode(kind, root, {name: complex(x) for name, x in zip(model.v_names, scaled, strict=True)})


def _row(k: int, mode: Mode) -> tuple[str, ...]:
    damping, time = mode.damping, mode.time_constant
    return (
        str(k),
        mode.kind,
        f"{mode.frequency:.6g}" if mode.kind == "oscillating" else "-",
        "-" if damping is None or mode.kind != "oscillating" else f"{damping + 0.0:.4g}",
        "-" if time is None else f"{time:.4g} s",
        mode.main_parts(),
    )


def _part(x: complex, name: str) -> str:
    if abs(x.imag) < 0.005:
        return f"{x.real:.2g} {name}"
    return f"{abs(x):.2g} {name} at {np.degrees(np.angle(x)):.0f} deg"
