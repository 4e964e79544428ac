"""States in the orders and frames of MuJoCo and Pinocchio, and back.

Of each joint the velocities there and here differ by a rotation T, which for some joints depends on q:

    v' = T v      a' = T a + dT/dt v      tau' = T tau       since tau . v is the same power

joint       here                               MuJoCo                              Pinocchio
all         in the order of the model          depth first                         depth first, by the joints' names
revolute    angle                              angle + its reference               the same; cos, sin of one without limits
planar      x, y, angle; rates                 the same                            x, y, cos, sin; velocity in the child's axes
spherical   w x y z; v in the child's axes     in the axes of the child there      x y z w; in the axes of the child there
free        position, w x y z; v in the        linear velocity in the world's      relative to the joint's place there,
            child's axes                       axes, angular in the child's there  x y z w; v in the axes of the child there
  on a body                                    three slides, and a ball

R0 are the axes of a body there, in the design position: R(q') = R0^T R(q) R0 for a ball, R(q') = R(q) R0 for a free body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import StateError
from ...model import Model
from ...model.manifold import quaternion_product, rotated, rotation
from .order import as_listed, by_name

Array = NDArray[np.float64]
IDENTITY = (1.0, 0.0, 0.0, 0.0)
XYZW = [1, 2, 3, 0]  # the order of Pinocchio's quaternions


class Piece:
    """The coordinates of one joint in another program: ``theirs`` of them. Arrays may have leading dimensions."""

    theirs = 1

    def there(self, q: Array) -> Array:
        raise NotImplementedError

    def here(self, p: Array) -> Array:
        raise NotImplementedError

    def T(self, q: Array) -> Array:
        """The rotation from our velocities to theirs, (nv, nv) or (..., nv, nv)."""
        return np.eye(1)

    def drift(self, q: Array, v: Array) -> Array:
        """dT/dt v"""
        return np.zeros_like(v)


class Shifted(Piece):
    """Coordinates that both programs count alike, from different zeros."""

    def __init__(self, reference: float = 0.0) -> None:
        self.reference = reference

    def there(self, q: Array) -> Array:
        return q + self.reference

    def here(self, p: Array) -> Array:
        return p - self.reference


class Circle(Piece):
    """An angle as cos, sin; back again it is between -pi and pi."""

    theirs = 2

    def there(self, q: Array) -> Array:
        return np.concatenate([np.cos(q), np.sin(q)], axis=-1)

    def here(self, p: Array) -> Array:
        return np.arctan2(p[..., 1:], p[..., :1])


class Ball(Piece):
    theirs = 4

    def __init__(self, frame: Sequence[float] | Array, order: Sequence[int] = (0, 1, 2, 3)) -> None:
        self.frame, self.order = np.array(frame), list(order)

    def there(self, q: Array) -> Array:
        turned = quaternion_product(quaternion_product(conjugate(self.frame), q), self.frame)
        return np.asarray(turned[..., self.order])

    def here(self, p: Array) -> Array:
        q = p[..., np.argsort(self.order)]
        return quaternion_product(quaternion_product(self.frame, q), conjugate(self.frame))

    def T(self, q: Array) -> Array:
        return rotation(conjugate(self.frame))


class FloatingMuJoCo(Piece):
    theirs = 7

    def __init__(self, frame: Sequence[float]) -> None:
        self.frame = np.array(frame)

    def there(self, q: Array) -> Array:
        return np.concatenate([q[..., :3], quaternion_product(q[..., 3:], self.frame)], axis=-1)

    def here(self, p: Array) -> Array:
        return np.concatenate([p[..., :3], quaternion_product(p[..., 3:], conjugate(self.frame))], axis=-1)

    def T(self, q: Array) -> Array:
        return _side_by_side(rotation(q[..., 3:]), rotation(conjugate(self.frame)))

    def drift(self, q: Array, v: Array) -> Array:
        turning = np.einsum("...ij,...j->...i", rotation(q[..., 3:]), np.cross(v[..., 3:], v[..., :3]))
        return np.concatenate([turning, np.zeros_like(turning)], axis=-1)


class FloatingOnBody(FloatingMuJoCo):
    """A free joint on a moving body, for which MuJoCo has three slides along the axes of the parent, and a ball."""

    def there(self, q: Array) -> Array:
        return np.concatenate([q[..., :3], Ball(self.frame).there(q[..., 3:])], axis=-1)

    def here(self, p: Array) -> Array:
        return np.concatenate([p[..., :3], Ball(self.frame).here(p[..., 3:])], axis=-1)


class FloatingPinocchio(Piece):
    theirs = 7

    def __init__(self, frame: Sequence[float], offset: Sequence[float]) -> None:
        self.ball, self.frame, self.offset = Ball(frame, XYZW), np.array(frame), np.array(offset)

    def there(self, q: Array) -> Array:
        position = rotated(conjugate(self.frame), q[..., :3] - self.offset)
        return np.concatenate([position, self.ball.there(q[..., 3:])], axis=-1)

    def here(self, p: Array) -> Array:
        position = self.offset + rotated(self.frame, p[..., :3])
        return np.concatenate([position, self.ball.here(p[..., 3:])], axis=-1)

    def T(self, q: Array) -> Array:
        return _side_by_side(self.ball.T(q), self.ball.T(q))


class PlanarPinocchio(Piece):
    theirs = 4

    def there(self, q: Array) -> Array:
        return np.concatenate([q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])], axis=-1)

    def here(self, p: Array) -> Array:
        return np.concatenate([p[..., :2], np.arctan2(p[..., 3:], p[..., 2:3])], axis=-1)

    def T(self, q: Array) -> Array:
        c, s, zero = np.cos(q[..., 2]), np.sin(q[..., 2]), np.zeros_like(q[..., 2])
        rows = [[c, s, zero], [-s, c, zero], [zero, zero, zero + 1.0]]
        return np.moveaxis(np.array(rows), (0, 1), (-2, -1))

    def drift(self, q: Array, v: Array) -> Array:
        x, y, _ = np.moveaxis(np.einsum("...ij,...j->...i", self.T(q), v), -1, 0)
        return np.stack([v[..., 2] * y, -v[..., 2] * x, 0.0 * x], axis=-1)


def _side_by_side(A: Array, B: Array) -> Array:
    """The block-diagonal matrices of A (..., 3, 3) and B (3, 3)."""
    found = np.zeros((*A.shape[:-2], 6, 6))
    found[..., :3, :3], found[..., 3:, 3:] = A, B
    return found


def conjugate(p: Array) -> Array:
    return p * np.array([1.0, -1.0, -1.0, -1.0])


# --- models


class Slot(NamedTuple):
    """A piece, and where it is in q and v, here and there."""

    piece: Piece
    q: slice
    v: slice
    q_there: slice
    v_there: slice


class StateConverter:
    """The converter of one model to another program and back."""

    def __init__(self, model: Model, program: str, rows: Sequence[int], pieces: Callable[[int], list[Piece]]) -> None:
        self.model, self.program = model, program
        self.blocks: list[Slot] = []
        nq = nv = 0
        for i in (i for i in rows if not model.driven[i]):
            joint, several = model.joints[i], pieces(i)
            for k, piece in enumerate(several):
                step_q, step_v = joint.nq // len(several), joint.nv // len(several)
                starts = int(model.q_index[i]) + k * step_q, int(model.v_index[i]) + k * step_v, nq, nv
                sizes = step_q, step_v, piece.theirs, step_v
                self.blocks.append(Slot(piece, *(slice(at, at + size) for at, size in zip(starts, sizes, strict=True))))
                nq, nv = nq + piece.theirs, nv + step_v
        self.nq, self.nv = nq, nv

    def there(self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None, tau: ArrayLike | None) -> Any:
        x, rest = self._arrays(self.model.nq, self.model.nv, q, {"v": v, "a": a, "tau": tau})
        found = {"q": self._each(x, self.nq, lambda block: (block.q_there, block.piece.there(x[..., block.q])))}
        for name, y in rest.items():
            found[name] = self._turned(x, y) + (self._drift(x, rest["v"]) if name == "a" else 0.0)
        return _unpacked(found)

    def here(self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None, tau: ArrayLike | None) -> Any:
        p, rest = self._arrays(self.nq, self.nv, q, {"v": v, "a": a, "tau": tau})
        x = self._each(p, self.model.nq, lambda block: (block.q, block.piece.here(p[..., block.q_there])))
        found = {"q": x}
        for name, y in rest.items():
            found[name] = self._turned_back(x, y - self._drift(x, found["v"]) if name == "a" else y)
        return _unpacked(found)

    def _turned(self, x: Array, y: Array) -> Array:
        """T y"""
        return self._each(y, self.nv, lambda b: (b.v_there, np.einsum("...ij,...j->...i", b.piece.T(x[..., b.q]), y[..., b.v])))

    def _turned_back(self, x: Array, y: Array) -> Array:
        """T^T y"""
        size = self.model.nv
        return self._each(y, size, lambda b: (b.v, np.einsum("...ji,...j->...i", b.piece.T(x[..., b.q]), y[..., b.v_there])))

    def _drift(self, x: Array, v: Array) -> Array:
        """dT/dt v"""
        return self._each(v, self.nv, lambda block: (block.v_there, block.piece.drift(x[..., block.q], v[..., block.v])))

    def _each(self, like: Array, size: int, part: Callable[[Slot], tuple[slice, Array]]) -> Array:
        out = np.zeros((*like.shape[:-1], size))
        for block in self.blocks:
            where, values = part(block)
            out[..., where] = values
        return out

    def _arrays(self, nq: int, nv: int, q: ArrayLike, rest: dict[str, Any]) -> tuple[Array, dict[str, Array]]:
        if rest["a"] is not None and rest["v"] is None:
            raise StateError(f"an acceleration there and here differ by what v does: give v to convert a ({self.program})")
        given = {name: x for name, x in ({"q": q} | rest).items() if x is not None}
        arrays = {name: np.asarray(x, dtype=float) for name, x in given.items()}
        for name, x in arrays.items():
            wanted = nq if name == "q" else nv
            if x.ndim == 0 or x.shape[-1] != wanted:
                raise StateError(f"{name} has shape {x.shape}; {self.model.name!r} needs ({wanted},) or (..., {wanted})")
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in arrays.values()))
        arrays = {name: np.broadcast_to(x, (*shape, x.shape[-1])) for name, x in arrays.items()}
        return arrays.pop("q"), arrays


def _unpacked(found: dict[str, Array]) -> Any:
    """The wanted arrays: one array, or several in the order q, v, a, tau."""
    return found["q"] if len(found) == 1 else tuple(found.values())


def _refuse_turned(model: Model, program: str) -> None:
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        if joint.turned:
            raise StateError(
                f"{program} has no {joint.kind} joint that is written from its far side: {name!r} cannot be converted. Let "
                "its parent be the body that is nearer to ground."
            )


def mujoco_states(model: Model) -> StateConverter:
    """The converter for the MJCF that a model came from, or that ``save`` writes of it."""
    _refuse_turned(model, "MuJoCo")
    source = model.source if model.source is not None and model.source.format == "mjcf" else None
    references = {} if source is None else source.references

    def pieces(i: int) -> list[Piece]:
        joint, frame = model.joints[i], frame_of(model, i)
        if joint.mjcf is None:
            raise StateError(f"MuJoCo has no {joint.kind}: {model.joint_names[i]!r} cannot be converted")
        if joint.quaternion == 0:
            return [Ball(frame)]
        if joint.quaternion is not None:
            return [FloatingMuJoCo(frame) if model.parents[i] < 0 else FloatingOnBody(frame)]
        return [Shifted(*references.get(model.joint_names[i], ())) for _ in range(joint.nv)]

    return StateConverter(model, "MuJoCo", as_listed(model.parents), pieces)


def pinocchio_states(model: Model) -> StateConverter:
    """The converter for the URDF that a model came from, or that ``save`` writes of it."""
    _refuse_turned(model, "Pinocchio")
    source = model.source if model.source is not None and model.source.format == "urdf" else None
    references = {} if source is None else source.references
    rows = by_name(model.parents, model.joint_names)
    if source is not None and source.order:
        named = {name: i for i, name in enumerate(model.joint_names)}
        rows = [named[name] for name in source.order]

    def pieces(i: int) -> list[Piece]:
        joint, frame = model.joints[i], frame_of(model, i)
        if joint.quaternion == 0:
            return [Ball(frame, XYZW)]
        if joint.urdf is None:
            what = f"Pinocchio's q of a {joint.kind} is not known here"
            raise StateError(f"{what}: {model.joint_names[i]!r} cannot be converted")
        if joint.quaternion is not None:
            return [FloatingPinocchio(frame, references.get(model.joint_names[i], (0.0, 0.0, 0.0)))]
        if joint.urdf[0][0] == "planar":
            return [PlanarPinocchio()]
        return [Circle() if unit == "rad" and unlimited(model, i) else Shifted() for unit in joint.q_units]

    return StateConverter(model, "Pinocchio", rows, pieces)


def unlimited(model: Model, i: int) -> bool:
    """Whether a joint turns without end, which Pinocchio writes as cos, sin."""
    limits = model.limits[i] if model.limits else None
    return limits is None or (limits.lower is None and limits.upper is None)


def frame_of(model: Model, i: int) -> Sequence[float]:
    """R0 of a body as a quaternion; a body without mass between two joints has that of the body beyond."""
    frames = {} if model.source is None else model.source.frames
    return frames.get(model.body_names[i], IDENTITY)
