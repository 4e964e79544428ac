"""Checks of the class of a joint: whether it is complete, and whether its methods agree with each other.

Everything follows from the pose: directions are its rates, their rates their own, efforts do unit work along them, coordinates
go back, and the closing equations hold along all of the joint's motion, and along nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..constraints import Frame, Given, Law
from ..numbers import Dual, Number, Symbol
from ..numbers.symbol import Graph
from ..spatial import Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import Joint, JointData, Parts
from .derived import GENERAL, PITCH, SOMEWHERE, equations, equations_along_given_axes, pose

Array = NDArray[np.float64]

MUST_HAVE = ("kind", "q_names", "q_units", "motion", "directions", "coordinates", "closing")
RATES = (0.53, -0.31, 0.67, -0.83, 0.41, 0.23)
NEAR = 1e-10  # numbers of order one
DATA = JointData(pitch=PITCH)
TURNS, SLIDES = ("hinge", "continuous"), ("slide", "prismatic")  # words of other programs


def problems_of(joint: type[Joint]) -> list[str]:
    """The problems of a class as sentences; none for a class that is as it should be."""
    missing = [name for name in MUST_HAVE if getattr(joint, name, None) is getattr(Joint, name, None)]
    if getattr(joint, "q_names", None) == ():
        missing.remove("coordinates")
    if missing:
        return [f"it has no {name}" for name in missing]
    found = list(_of_names(joint))
    if found:
        return found
    try:
        identity_of(joint)
        return [*_of_motion(joint), *_of_frames(joint), *_of_closing(joint)]
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        return [f"it cannot be evaluated: {type(error).__name__}: {error}"]


def _of_names(joint: type[Joint]) -> Iterator[str]:
    if joint.quaternion is not None:
        yield "it has a quaternion, which spherical and free joints alone can have"
    if not joint.kind.isidentifier():
        yield f"its kind {joint.kind!r} is not a name: use letters, digits and _"
    for name, size in (("q_units", joint.nq), ("v_names", joint.nq), ("v_units", joint.nv), ("neutral", joint.nq)):
        if len(getattr(joint, name)) != size:
            yield f"its {name} are {len(getattr(joint, name))}, and there should be {size}"
    if any(joint.neutral):
        yield f"its neutral is {joint.neutral}, and should be zero"
    for unit in {*joint.q_units} - {"rad", "m"}:
        yield f'its q_units have {unit!r}: use "rad" and "m"'
    if joint.nq > 1 and ("" in joint.q_names or len({*joint.q_names}) < joint.nq):
        yield f"its q_names are {joint.q_names}: name each of its coordinates"
    if joint.needs_axis2 and not joint.has_axis:
        yield "it needs_axis2, but has_axis is False"


def _of_motion(joint: type[Joint]) -> Iterator[str]:
    q, v = SOMEWHERE[: joint.nq], RATES[: joint.nv]
    R, p = pose(joint, q, DATA)
    R_rate, p_rate = (_slopes(x) for x in pose(joint, _moving(q, v), DATA))
    spin = R.T @ R_rate
    moved = np.array([spin[2, 1], spin[0, 2], spin[1, 0], *(R.T @ p_rate)])
    S, E = joint.directions(q, DATA), joint.efforts(q, DATA)
    along = _six(S)
    if not _near(pose(joint, joint.neutral, DATA)[0], np.eye(3)) or not _near(pose(joint, joint.neutral, DATA)[1], 0.0):
        yield "its motion is not the identity at its neutral coordinates"
    if along.shape != (joint.nv, 6) or not _near(np.array(v) @ along, moved):
        yield "its directions are not the motion that the rates of its coordinates make"
        return
    if not _near(_six(joint.direction_rates(q, v, DATA)), _slopes(_six(joint.directions(_moving(q, v), DATA)))):
        yield "its direction_rates are not the rates of its directions"
    if not _near(_six([joint.bias(q, v, DATA)])[0], np.array(v) @ _six(joint.direction_rates(q, v, DATA))):
        yield "its bias is not that of its direction_rates"
    if len(E) != joint.nv or not _near([[s.dot(e) for e in E] for s in S], np.eye(joint.nv)):
        yield "its efforts do not do unit work along its directions, each along its own alone: give efforts"
    elif not _near([[*e.n, *e.f] for e in joint.efforts(q)], [[*e.n, *e.f] for e in E]):
        yield "its efforts depend on the pitch: let them be those of its coordinates alone"
    if not _near(joint.coordinates(_matrix(R), Vector(*p)), q):
        yield "its coordinates do not give back those of its motion"
    if not _near(joint.rates(q, v), v):
        yield "its rates are not v, which is for joints with quaternions"


def _of_frames(joint: type[Joint]) -> Iterator[str]:
    """A joint placed by plane turns takes a turn at rest first; one that turns freely commutes with what is about its axis."""
    q, rest = SOMEWHERE[: joint.nq], PlaneTurn.angle("z", 0.4)
    R, p = pose(joint, q, DATA)
    Z, along = np.array([list(row) for row in rest.columns(Matrix.identity())]), np.array([0.0, 0.0, 1.0])
    if joint.plane:
        R_rest, p_rest = pose(joint, q, JointData(0.4, rest, PITCH))
        if not _near(R_rest, Z @ R) or not _near(p_rest, p):
            yield "plane is True, but its motion does not begin with the turn at rest of its data"
    if joint.turns_freely and not (
        joint.plane and joint.has_axis and _near(Z @ R, R @ Z) and _near(Z @ p, p) and _near(R @ along, along)
    ):
        yield "turns_freely is True, but it does not only turn about its axis and slide along it, or plane is False"


def _of_closing(joint: type[Joint]) -> Iterator[str]:
    found = equations(joint, Matrix.identity())
    if len(found) != 6 - joint.nv:
        yield f"its closing equations are {len(found)}, and there should be 6 - nv = {6 - joint.nv}"
        return
    errors, rows = zip(*[_closed(joint, v) for v in (RATES, (0.0,) * 6)], strict=True)
    if not _near(errors, 0.0):
        yield "its closing equations do not hold along its motion, or their wrenches on the two bodies do not balance"
    if found and np.linalg.matrix_rank(rows[0], tol=1e-9) < len(found):
        yield "its closing equations are not independent"
    used = equations_along_given_axes(joint)
    turned = np.array([list(row) for row in GENERAL]).T @ [e.error for e in found[:3]] if used == (0, 1, 2) else []
    if used and not (used == (0, 1, 2) and _near([e.error for e in equations(joint, GENERAL)[:3]], turned)):
        yield "its closing equations use given.world, but not as points_meet does, first of all"


def _closed(joint: type[Joint], v: Sequence[float]) -> tuple[Array, Array]:
    """The closing equations of a joint in a general position, moving with v: of each what should be zero, and its row on j."""
    q, v = SOMEWHERE[: joint.nq], v[: joint.nv]
    R, p = pose(joint, q, DATA)
    turn = np.kron(np.eye(2), R)
    S, bias = _six(joint.directions(q, DATA)) @ turn.T, turn @ _six([joint.bias(q, v, DATA)])[0]
    moved = np.array(v) @ S
    acceleration = bias + np.array([0.0, 0.0, 0.0, *np.cross(moved[:3], moved[3:])])
    i = Frame(Matrix.identity(), ZERO, ZERO, ZERO)
    j = Frame(_matrix(R), Vector(*p), Vector(*moved[3:]), Vector(*moved[:3]))
    found = joint.closing(i, j, Given(Matrix.identity(), Law(0.0), PITCH))
    rows = np.array([[*e.on_j.n, *e.on_j.f] for e in found]).reshape(-1, 6)
    errors = np.array([[e.error, e.rate, e.gamma] for e in found]).reshape(-1, 3)
    both = np.array([[*(e.on_i.f + e.on_j.f), *(e.on_i.n + e.on_j.n + j.p.cross(e.on_j.f))] for e in found]).reshape(-1, 6)
    return np.column_stack([errors[:, :2], errors[:, 2] - rows @ acceleration, rows @ S.T, both]), rows


def export_problems(joint: type[Joint]) -> Iterator[str]:
    """Turns and slides one after the other, as which other programs may have it, must move as it does."""
    q = SOMEWHERE[: joint.nq]
    for name in ("mjcf", "urdf"):
        parts: Parts | None = getattr(joint, name)
        if parts is None:
            continue
        words = (*TURNS, *SLIDES)
        if len(parts) != joint.nv or not all(word in words and axis in ("x", "y", "z") for word, axis in parts):
            yield f"its {name} should have {joint.nv} parts, each one of {', '.join(words)} with its axis x, y or z"
            continue
        R, p = np.eye(3), np.zeros(3)
        for (word, axis), x in zip(parts, q, strict=True):
            e = np.eye(3)["xyz".index(axis)]
            E = np.cross(np.eye(3), e)  # E x = e x x
            p = p + R @ e * x * (word in SLIDES)
            R = R @ (np.eye(3) + np.sin(x) * E + (1 - np.cos(x)) * E @ E) if word in TURNS else R
        if not _near(R, pose(joint, q, DATA)[0]) or not _near(p, pose(joint, q, DATA)[1]):
            yield f"its {name} does not move as its motion does"
    if joint.mjcf_loop is not None:
        yield "its mjcf_loop is given, which spherical, revolute and fixed joints alone can have"


class _Recorder(Graph):
    """Keeps what is computed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def record(self, kind: str, args: tuple[Number, ...]) -> str:
        self.lines.append(f"{kind} {_words(args)}")
        return self.name()

    def symbols(self, n: int) -> list[Number]:
        return [Symbol(self, self.name()) for _ in range(n)]


def identity_of(joint: type[Joint]) -> str:
    """A hash of everything that it computes and says: equal for equal code, whatever it is called and wherever it stands."""
    graph = _Recorder()
    q, v = graph.symbols(joint.nq), graph.symbols(joint.nv)
    rest, pitch = graph.symbols(3), graph.symbols(1)[0]
    data = JointData(rest[0], PlaneTurn.of("z", rest[1], rest[2]), pitch)

    def matrix() -> Matrix:
        return Matrix(*[Vector(*graph.symbols(3)) for _ in range(3)])

    def frame() -> Frame:
        p, pdot, w, *known = (Vector(*graph.symbols(3)) for _ in range(5))
        return Frame(matrix(), p, pdot, w, Motion(*known))

    said = [
        getattr(joint, name) for name in sorted(Joint.__annotations__) if name not in ("axis", "axis2", "pitch", "identity")
    ]
    computed = [
        joint.motion(q, data),
        joint.directions(q, data),
        joint.efforts(q, data),
        joint.direction_rates(q, v, data),
        joint.bias(q, v, data),
        joint.rates(q, v),
        joint.coordinates(matrix(), Vector(*graph.symbols(3))),
        joint.closing(frame(), frame(), Given(matrix(), Law(*graph.symbols(3)), pitch)),
    ]
    text = "\n".join([repr(said), *graph.lines, *map(_words, computed)])
    return hashlib.sha256(text.encode()).hexdigest()


def _words(x: object) -> str:
    if isinstance(x, Symbol):
        return x.ref
    return f"({' '.join(map(_words, x))})" if isinstance(x, tuple | list) else repr(x)


def _moving(q: Sequence[Number], v: Sequence[Number]) -> list[Number]:
    return [Dual(x, [rate]) for x, rate in zip(q, v, strict=True)]


def _six(motions: Sequence[Motion]) -> Array:
    return np.array([[*S.w, *S.v] for S in motions]).reshape(-1, 6)


def _matrix(R: Array) -> Matrix:
    return Matrix(*[Vector(*row) for row in R.tolist()])


def _slopes(x: Array) -> Array:
    parts: Sequence[object] = x.ravel().tolist()
    return np.array([part.tangents[0] if isinstance(part, Dual) else 0.0 for part in parts]).reshape(x.shape)


def _near(a: object, b: object) -> bool:
    return bool(np.abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float)).max(initial=0.0) < NEAR)
