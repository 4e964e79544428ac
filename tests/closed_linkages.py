"""Linkages by name: planar ones, ladders, and the overconstrained ones that move all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bellcrank.joints import make_joint
from bellcrank.model import Closure, Model

from .closed import between
from .closed_states import flowing
from .reference import about_axis

Z = (0.0, 0.0, 1.0)
DOWN = (0.0, -9.81, 0.0)  # of linkages in the x-y plane


class Bar(NamedTuple):
    """From its inboard joint at ``start`` to ``end``; ``parent`` is a row, -1 = ground."""

    name: str
    parent: int
    start: Sequence[float]
    end: Sequence[float]
    joint: Any = ("revolute", Z)
    mass: float = 1.0


def bar_inertia(mass: float, along: np.ndarray, about_itself: float = 1e-3) -> np.ndarray:
    """m L^2/12 across the bar, a little about its own axis."""
    square = along @ along
    across = np.eye(3) - np.outer(along, along) / square
    return mass * square / 12 * across + about_itself * np.outer(along, along) / square


def linkage(name: str, bars: Sequence[Bar], gravity: Sequence[float] = DOWN) -> tuple[Model, np.ndarray]:
    """Slender bars in the design position, and the origins of the bodies, of ground at the end."""
    origins = np.array([*(bar.start for bar in bars), np.zeros(3)], dtype=float)
    along = np.array([bar.end for bar in bars]) - origins[:-1]
    joints = [make_joint(*(bar.joint if isinstance(bar.joint, tuple) else (bar.joint,))) for bar in bars]
    nv = sum(joint.nv for joint in joints)
    model = Model(
        name=name,
        joint_names=tuple(f"{bar.name}_joint" for bar in bars),
        body_names=tuple(bar.name for bar in bars),
        parents=tuple(bar.parent for bar in bars),
        joints=tuple(joints),
        position=origins[:-1] - origins[[bar.parent for bar in bars]],
        mass=[bar.mass for bar in bars],
        center=along / 2,
        inertia=[bar_inertia(bar.mass, a) for bar, a in zip(bars, along, strict=True)],
        armature=np.zeros(nv),
        gravity=gravity,
        given_q=[x for joint in joints for x in joint.neutral],
        given_v=np.zeros(nv),
    )
    return model, origins


def pinned(model: Model, origins: np.ndarray, pairs: Sequence[tuple[int, int, Any]], kind: str = "revolute") -> Model:
    """Bodies a and b tied at points of the plane, by hinges, balls or, without a redundant row, points on lines across it."""
    closures = []
    for k, (a, b, point) in enumerate(pairs):
        name = f"pin{k + 1}"
        if kind == "point_on_line":
            ends = {"point_a": tuple(point - origins[a]), "point_b": tuple(point - origins[b])}
            closures.append(Closure(name, kind, a, b, **ends, axis=Z))
        else:
            closures.append(between(name, a, b, point, origins, kind, None if kind == "spherical" else Z))
    return replace(model, closures=tuple(closures))


def polar(length: float, angle: float) -> np.ndarray:
    return length * np.array([np.cos(angle), np.sin(angle), 0.0])


def four_bar(kind: str = "revolute", angle: float = 0.7, speed: float = 6.0) -> Model:
    """The four-bar of the issues: crank 0.5, coupler 1.8 above, rocker 1.2, pivots 2 m apart; masses 1 kg/m."""
    A, D = np.zeros(3), np.array([2.0, 0.0, 0.0])
    B = polar(0.5, angle)
    C = meet(B, 1.8, D, 1.2)
    bars = [Bar("crank", -1, A, B, mass=0.5), Bar("coupler", 0, B, C, mass=1.8), Bar("rocker", -1, D, C, mass=1.2)]
    model, origins = linkage("four-bar", bars)
    model = pinned(model, origins, [(1, 2, C)], kind)
    return replace(model, given_v=started(model, speed))


def started(model: Model, speed: float) -> np.ndarray:
    """The velocities of a linkage of one degree of freedom whose first joint turns with a speed."""
    v = flowing(model, model.given_q, np.eye(model.nv)[0], 0.0)
    return v * speed / v[0]


def meet(A: np.ndarray, r: float, B: np.ndarray, s: float) -> np.ndarray:
    """The point at distances r from A and s from B in the plane, on the left of A to B."""
    d = np.linalg.norm(B - A)
    along, x = (B - A) / d, (d**2 + r**2 - s**2) / (2 * d)
    return A + x * along + np.sqrt(r**2 - x**2) * np.cross(Z, along)


def n_four_bar(N: int, kind: str = "revolute", angle: float = 1.1) -> Model:
    """N + 1 cranks on ground and N couplers between their tips, all of 1 m and 1 kg: one degree of freedom."""
    feet = [np.array([float(k), 0.0, 0.0]) for k in range(N + 1)]
    tips = [foot + polar(1.0, angle) for foot in feet]
    bars = [Bar(f"crank{k}", -1, feet[k], tips[k]) for k in range(N + 1)]
    bars += [Bar(f"coupler{k}", k, tips[k], tips[k + 1]) for k in range(N)]
    model, origins = linkage(f"{N} four-bars", bars)
    return pinned(model, origins, [(N + 1 + k, k + 1, tips[k + 1]) for k in range(N)], kind)


def parallelogram(extra: int = 0, kind: str = "revolute", angle: float = 1.1) -> Model:
    """Two cranks of 1 m, 2 m apart, and a coupler, which more cranks between them carry redundantly."""
    places = [0.0, 2.0, *np.linspace(0, 2, extra + 2)[1:-1]]
    feet = [np.array([x, 0.0, 0.0]) for x in places]
    tips = [foot + polar(1.0, angle) for foot in feet]
    bars = [Bar(f"crank{k}", -1, foot, tip) for k, (foot, tip) in enumerate(zip(feet, tips, strict=True))]
    bars.append(Bar("coupler", 0, tips[0], tips[1]))
    model, origins = linkage(f"parallelogram with {extra} more cranks", bars)
    return pinned(model, origins, [(len(feet), k, tips[k]) for k in range(1, len(feet))], kind)


def ladder(N: int, kind: str = "revolute", lean: float = 0.3) -> Model:
    """N cells in series, each two rails and a rung on the rung before, of 1 m and 1 kg: N degrees of freedom."""
    left, right = np.zeros(3), np.array([1.0, 0.0, 0.0])
    bars: list[Bar] = []
    pairs, rung = [], -1
    for k in range(N):
        rail = polar(1.0, np.pi / 2 + lean * (-1) ** k)
        n = len(bars)
        bars += [
            Bar(f"left{k + 1}", rung, left, left + rail),
            Bar(f"right{k + 1}", rung, right, right + rail),
            Bar(f"rung{k + 1}", n, left + rail, right + rail),
        ]
        left, right, rung = left + rail, right + rail, n + 2
        pairs.append((n + 2, n + 1, right))
    model, origins = linkage(f"ladder of {N}", bars)
    return pinned(model, origins, pairs, kind)


def lattice(rows: int, columns: int, lean: float = 0.3, *, afloat: bool = False, spatial: bool = False) -> Model:
    """Cells side by side and on top of each other, of bars of 1 m and 1 kg, hinged at all corners: as many dof as rows.

    ``afloat``: on a bar that is free, with a pendulum on the last beam; ``spatial``: posts on universal joints, beams on balls
    and closed by balls.
    """
    bars = [Bar("raft", -1, np.zeros(3), np.array([float(columns), 0.0, 0.0]), "free", 5.0)] if afloat else []
    post, beam = (("universal", (1, 0, 0), (0, 0, 1)), "spherical") if spatial else (("revolute", Z),) * 2
    pairs: list[tuple[int, int, Any]] = []
    foot, below = np.zeros(3), [len(bars) - 1] * (columns + 1)
    along = np.array([1.0, 0.0, 0.0])
    for j in range(rows):
        top = foot + polar(1.0, np.pi / 2 + lean * (-1) ** j)
        posts = range(len(bars), len(bars) + columns + 1)
        bars += [Bar(f"post{i}_{j}", below[i], foot + i * along, top + i * along, post) for i in range(columns + 1)]
        beams = range(len(bars), len(bars) + columns)
        bars += [Bar(f"beam{i}_{j}", posts[i], top + i * along, top + (i + 1) * along, beam) for i in range(columns)]
        pairs += [(beams[i], posts[i + 1], top + (i + 1) * along) for i in range(columns)]
        foot, below = top, list(posts)
    if afloat:
        bars.append(Bar("pendulum", len(bars) - 1, bars[-1].end, bars[-1].end - np.array([0.0, 0.5, 0.0])))
    model, origins = linkage(f"lattice of {rows} by {columns}", bars)
    return pinned(model, origins, pairs, "spherical" if spatial else "revolute")


def spatial_ladder(N: int) -> Model:
    """As the ladder, with rails on universal joints, rungs on balls and a ball to close each cell: 4 N degrees of freedom."""
    left, right = np.zeros(3), np.array([1.0, 0.0, 0.0])
    bars: list[Bar] = []
    pairs, rung = [], -1
    for k in range(N):
        rail = np.array([0.2 * (-1) ** k, 0.3, 0.9])
        n, hooke = len(bars), ("universal", (1, 0, 0), (0, 1, 0))
        bars += [
            Bar(f"left{k + 1}", rung, left, left + rail, hooke),
            Bar(f"right{k + 1}", rung, right, right + rail, hooke),
            Bar(f"rung{k + 1}", n, left + rail, right + rail, "spherical"),
        ]
        left, right, rung = left + rail, right + rail, n + 2
        pairs.append((n + 2, n + 1, right))
    model, origins = linkage(f"spatial ladder of {N}", bars, gravity=(0.0, 0.0, -9.81))
    return pinned(model, origins, pairs, "spherical")


# Overconstrained ------------------------------------------------------------------------------------------------------------


def ring(name: str, lengths: Sequence[float], twists: Sequence[float], angles: Sequence[float]) -> Model:
    """A closed ring of hinges by Denavit and Hartenberg: turn about z, go along x, twist about x. Link 0 is ground."""
    frames, R, p = [], np.eye(3), np.zeros(3)
    for length, twist, angle in zip(lengths, twists, angles, strict=True):
        R = R @ _turn((0, 0, 1), angle)
        p = p + length * R[:, 0]
        R = R @ _turn((1, 0, 0), twist)
        frames.append((R[:, 2], p))
    assert np.abs(p).max() < 1e-14 and np.abs(R - np.eye(3)).max() < 1e-14, f"{name} does not close"
    # Hinge k carries link k + 1, from its point to that of the next hinge; the last hinge ties the last link to ground.
    points, axes = [x for _, x in frames], [z for z, _ in frames]
    bars = [Bar(f"link{k + 1}", k - 1, points[k], points[k + 1], ("revolute", tuple(axes[k]))) for k in range(len(points) - 1)]
    model, origins = linkage(name, bars, gravity=(0.7, -1.3, -9.0))
    last = between("last", len(bars) - 1, -1, points[-1], origins, "revolute", tuple(axes[-1]))
    return replace(model, closures=(last,))


def _turn(axis: Any, angle: float) -> np.ndarray:
    zero = np.zeros(1)
    return about_axis(np.array(axis, dtype=np.longdouble), np.longdouble(angle), zero, zero)[0][0].astype(float)


def bennett(angle: float = 1.0) -> Model:
    """Four hinges in space: opposite lengths and twists equal, a/sin(alpha) = b/sin(beta). One degree of freedom."""
    a, alpha, beta = 0.8, 0.6, 1.3
    b = a * np.sin(beta) / np.sin(alpha)
    half = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(angle / 2)
    other = 2 * np.arctan(half)
    return ring("Bennett's linkage", (a, b, a, b), (alpha, beta, alpha, beta), (angle, other, -angle, -other))


def bricard(angle: float = 1.9) -> Model:
    """Six hinges at right angles, threefold symmetric: cos f + cos g + cos f cos g = 0. One degree of freedom."""
    other = np.arccos(-np.cos(angle) / (1 + np.cos(angle)))
    twist = np.pi / 2
    return ring("Bricard's linkage", (0.7,) * 6, (twist, -twist) * 3, (angle, other) * 3)
