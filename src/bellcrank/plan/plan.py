"""The plan of a walk: order, frames, signatures, and the tables that the machine code reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from ..numbers.variable import as_array, on_constants, values_of, varied
from ..spatial.rank import RANK_TOLERANCE
from .frames import Frames, Style, choose_frames, settled
from .loads import Loads, make_loads
from .order import Tree, depth_first
from .signature import ROW, SLOTS, Signature

if TYPE_CHECKING:
    from .nodes.tables import Nodes

Array = NDArray[np.float64]
Varied = Mapping[str, NDArray[np.bool_]]
Recorded = Mapping[str, NDArray[Any]]

_MOST_SIGNATURES = 32  # beyond this, structure is folded more coarsely: the code must not grow without bound
_PLACEMENT = [
    k for name in ("gamma", "alpha", "rest", "rest_angle", "offset", "pitch", "turn", "armature") for k in SLOTS[name]
]
_ROTATION = [k for name in ("gamma", "alpha", "rest", "turn") for k in SLOTS[name]]
_ARMATURE = list(SLOTS["armature"])

TABLE = ("code", "parent", "q", "v", "user", "own_message", "parent_message", "nv", "state")  # columns of the integer table


@dataclass(frozen=True)
class Plan:
    """Everything about a model that the executors need. Bodies are in the order of the walk."""

    model: Model
    tree: Tree
    frames: Frames
    signatures: tuple[Signature, ...]  # the distinct ones
    table: NDArray[np.int64]  # (n, len(TABLE))
    data: Array  # (n, ROW)
    gravity: Array  # in the ground's frame
    messages: int  # how many bodies receive messages through memory
    loads: Loads
    tolerance: float = RANK_TOLERANCE  # below which an equation that closes a loop counts as redundant
    length: float = 1.0  # typical of the model
    baumgarte: tuple[float, float] = (0.0, 0.0)  # 2 alpha, beta^2
    nodes: Nodes | None = None  # for the walk over blocks of loops
    selected_rows: tuple[
        int, ...
    ] = ()  # of the equations of closures, where all are taken at once; (): those independent at a state
    varied: Varied = field(default_factory=dict)  # of arrays by their names (machine.arrays): what a design may change
    recorded: Recorded = field(default_factory=dict)  # for a design: those arrays, with variables in them
    lane_designs: bool = False  # each lane has a design of its own
    made: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was made of it and does not depend on its numbers, by names; ``replace`` begins a new one."""

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"made": {}}

    def with_numbers(self, **changed: Any) -> Plan:
        """A plan that differs in its numbers only, so that machine code and what surrounds it is made once for both."""
        other = replace(self, **changed)
        object.__setattr__(other, "made", self.made)
        return other

    @property
    def n(self) -> int:
        return self.tree.n

    def varies(self, name: str, *place: int) -> bool:
        """Whether a design may change anything of an array, or one of its entries."""
        mask = self.varied.get(name)
        return mask is not None and bool(mask[place].any())

    @property
    def has_gravity(self) -> tuple[bool, ...]:
        """Along which of the ground's axes there is any, or may be."""
        return tuple(bool(x) or self.varies("gravity", k) for k, x in enumerate(self.gravity))

    @property
    def outside_joints(self) -> tuple[str, ...]:
        """What the kinds of joint from outside the package compute, which their names in signatures do not tell."""
        closing = (closure.joint for closure in self.model.closures if closure.joint is not None)
        return tuple(sorted({joint.identity for joint in (*self.model.joints, *closing)} - {""}))

    def signature(self, i: int) -> Signature:
        return self.signatures[int(self.table[i, 0])]


def make_plan(
    model: Model,
    style: Style = "plane",
    *,
    tolerance: float = RANK_TOLERANCE,
    baumgarte: tuple[float, float] = (0.0, 0.0),
    over_numbers: Model | None = None,
    measured: Sequence[str] = (),
    masks: Varied | None = None,
) -> Plan:
    """``measured``: names of the measures that a program is to find; for a design, ``over_numbers`` is the same model with
    variables in it. ``masks``: entries of arrays that may change all the same, and are data whatever they are now."""
    tree = depth_first(model.parents)
    recorded: dict[str, NDArray[Any]] = {}
    frames = choose_frames(over_numbers or model, tree, style)
    if over_numbers is not None:
        recorded = recorded_arrays(over_numbers, tree, frames, measured)
        frames = settled(frames)
    masks = {name: mask for name, mask in (masks or {}).items() if np.any(mask)}
    masks |= {name: varied(array) for name, array in recorded.items() if name != "rotation"}
    data = _data_rows(model, tree, frames)
    loads = make_loads(model, tree, frames, measured, masks)
    if "pool" in recorded:  # where a design may change a table, it has breaks
        loads = replace(loads, pool=values_of(recorded["pool"]))
    code, signatures = _signatures(model, tree, frames, data, loads, masks.get("data"))
    order, parent = np.array(tree.order), np.array(tree.parent)
    branches = np.array([len(children) > 1 for children in tree.children])
    message = np.where(branches, np.cumsum(branches) - 1, -1)
    columns = {
        "code": code,
        "parent": parent,
        "q": np.where(loads.driven, loads.driven_index[:, 0], model.q_index[order]),
        "v": np.where(loads.driven, loads.driven_index[:, 1], model.v_index[order]),
        "user": order,
        "own_message": message,
        "parent_message": np.where(parent >= 0, message[parent], -1),
        "nv": np.where(loads.driven, 0, [model.joints[body].nv for body in order]),
        "state": _places(loads.attached, tree.n),
    }
    table = np.stack([columns[name] for name in TABLE], axis=1).astype(np.int64)
    gravity = _gravity(model, frames)
    closing = tolerance, typical_length(model), baumgarte
    parts = frames, signatures, table, data, gravity, int(branches.sum()), loads, *closing
    return Plan(model, tree, *parts, varied=masks, recorded=recorded)


def recorded_arrays(model: Model, tree: Tree, frames: Frames, measured: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a model over variables that depend on them, by the names that they have in kernels."""
    loads = make_loads(model, tree, frames, measured)
    found = {
        "data": _data_rows(model, tree, frames),
        "gravity": _gravity(model, frames),
        "motion_data": loads.motion_data,
        "element_data": loads.element_data,
        "pool": loads.pool,
        "closure_data": loads.closing.data,
        "factors": loads.closing.factors,
        "given_factors": loads.closing.given_factors,
        "action_data": loads.closing.action_data,
        "measure_data": loads.measures.data,
        "rotation": frames.rotation,  # which kernels do not read: of the frames of the results
    }
    return {name: array for name, array in found.items() if varied(array).any()}


def _gravity(model: Model, frames: Frames) -> Array:
    """Gravity in the ground's frame."""
    gravity = frames.ground_rotation.T @ model.gravity
    strength = np.abs(values_of(gravity)).max(initial=0.0)
    return on_constants(lambda g: np.where(np.abs(g) < 1e-15 * strength, 0.0, g), gravity)


def typical_length(model: Model) -> float:
    """The mean distance of joints and closures from their bodies' origins; 1 m where all of them meet."""
    offsets = [*values_of(model.position), *(values_of(x) for c in model.closures for x in (c.point_a, c.point_b))]
    lengths = np.linalg.norm(np.array(offsets).reshape(-1, 3), axis=1)
    return float(lengths[lengths > 0].mean()) if (lengths > 0).any() else 1.0


def _places(chosen: tuple[int, ...], n: int) -> NDArray[np.int64]:
    """Rank of each chosen body, -1 for the others."""
    places = np.full(n, -1, dtype=np.int64)
    places[list(chosen)] = np.arange(len(chosen))
    return places


def _data_rows(model: Model, tree: Tree, frames: Frames) -> Array:
    """The row of numbers of each body, in its computing frame."""
    order = list(tree.order)
    K, inverse = frames.rotation, np.swapaxes(frames.rotation, 1, 2)
    m = model.mass[order]
    c = np.einsum("nij,nj->ni", inverse, model.center[order] - frames.origin)
    Jc = inverse @ model.inertia[order] @ K
    J = Jc + m[:, None, None] * (np.einsum("ni,ni->n", c, c)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", c, c))
    reach = np.abs(values_of(model.center[order])).max(axis=1, initial=0.0)
    armature = np.zeros((tree.n, len(SLOTS["armature"])), dtype=model.armature.dtype)
    for i, body in enumerate(order):
        if model.motions and model.motions[body] is not None:
            continue
        first, nv = model.v_index[body], model.joints[body].nv
        armature[i, :nv] = model.armature[first : first + nv]
    upper = np.triu_indices(3)
    carried, moment = _carried(m, m[:, None] * c, tree, frames)
    columns = {
        "gamma": _turns(frames.gamma),
        "alpha": _turns(frames.alpha),
        "rest": _turns(frames.rest),
        "rest_angle": frames.rest[:, None],
        "offset": frames.offset,
        "pitch": as_array([[0.0 if model.joints[body].pitch is None else model.joints[body].pitch] for body in order]),
        "turn": frames.turn.reshape(-1, 9),
        "J": _clean(J[:, upper[0], upper[1]], np.abs(values_of(J)).max(axis=(1, 2))),
        "mc": _clean(m[:, None] * c, values_of(m) * reach),
        "m": m[:, None],
        "center": _clean(c, reach),
        "Jc": _clean(Jc[:, upper[0], upper[1]], np.abs(values_of(Jc)).max(axis=(1, 2))),
        "armature": armature,
        "carried_m": carried[:, None],
        "carried_mc": _clean(moment, values_of(carried) * np.maximum(reach, np.abs(values_of(frames.offset)).max(initial=0.0))),
    }
    return np.ascontiguousarray(np.concatenate([columns[name] for name in SLOTS], axis=1))


def _carried(m: Array, mc: Array, tree: Tree, frames: Frames) -> tuple[Array, Array]:
    """Mass of each subtree, and its first moment about the body's origin if all of it were at its joints' points of rest."""
    mass, moment, placement = m.copy(), mc.copy(), frames.placement
    for i in reversed(range(tree.n)):
        p = tree.parent[i]
        if p >= 0:
            mass[p] += mass[i]
            moment[p] += mass[i] * placement[i]
    return mass, moment


def _signatures(
    model: Model, tree: Tree, frames: Frames, data: Array, loads: Loads, varied: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], tuple[Signature, ...]]:
    """The code of every body and the distinct signatures, as fine as possible while they stay few."""
    varied = np.zeros(data.shape, dtype=bool) if varied is None else varied
    foldable = ((data == 0) | ((np.abs(data) == 1) & np.isin(np.arange(ROW), _ROTATION))) & ~varied
    roles = _roles(model, tree, frames, loads)
    for columns in (list(range(ROW)), _PLACEMENT):
        chosen = np.zeros_like(foldable)
        chosen[:, columns] = foldable[:, columns]
        found = _group(roles, chosen, data, varied)
        if len(found[1]) <= _MOST_SIGNATURES:
            return found
    anywhere = np.broadcast_to(varied.any(axis=0), data.shape)
    return _group(roles, _common(roles, foldable & ~anywhere, data), data, anywhere)


def _common(roles: list[Role], foldable: NDArray[np.bool_], data: Array) -> NDArray[np.bool_]:
    """Only what all bodies of the same role, with the same armatures, have in common."""
    groups: dict[object, list[int]] = {}
    for i, role in enumerate(roles):
        groups.setdefault((role, foldable[i, _ARMATURE].tobytes()), []).append(i)
    chosen = np.zeros_like(foldable)
    for members in groups.values():
        same = foldable[members].all(axis=0) & (data[members] == data[members[0]]).all(axis=0)
        chosen[np.ix_(members, _PLACEMENT)] = same[_PLACEMENT]
    return chosen


def _group(
    roles: list[Role], chosen: NDArray[np.bool_], data: Array, varied: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], tuple[Signature, ...]]:
    codes: dict[object, int] = {}
    signatures = []
    code = np.zeros(len(roles), dtype=np.int64)
    folded = np.where(chosen, data + 0.0, np.inf)  # + 0.0: no negative zeros
    for i, (role, row) in enumerate(zip(roles, folded, strict=True)):
        key = (role, row.tobytes(), varied[i].tobytes())
        if key not in codes:
            codes[key] = len(codes)
            constants = tuple((int(k), float(row[k])) for k in np.flatnonzero(chosen[i]))
            signatures.append(Signature(*role, constants, tuple(map(int, np.flatnonzero(varied[i])))))
        code[i] = codes[key]
    return code, tuple(signatures)


Role = tuple[str, str, bool, bool, bool, bool, bool, bool, bool]


def _roles(model: Model, tree: Tree, frames: Frames, loads: Loads) -> list[Role]:
    roles = []
    attached = set(loads.attached)
    for i, (body, p) in enumerate(zip(tree.order, tree.parent, strict=True)):
        joint, children = model.joints[body], tree.children[i]
        adjacent = p >= 0 and p == i - 1
        opens = p >= 0 and not adjacent and tree.children[p][-1] == i
        style = "plane" if frames.plane[i] else "full"
        roles.append(
            (joint.key, style, p < 0, not children, adjacent, len(children) > 1, opens, bool(loads.driven[i]), i in attached)
        )
    return roles


def _turns(angle: Array) -> Array:
    """sin, cos and their products; right angles are exact."""
    s, c = (np.where(np.abs(x - np.round(x)) > 1e-15, x, np.round(x)) for x in (np.sin(angle), np.cos(angle)))
    return np.stack([s, c, s * s, s * c, 2 * s * c, 1 - 2 * s * s], axis=1)


def _clean(x: Array, scale: Array) -> Array:
    """Entries that are zero but for rounding become exact zeros."""
    return on_constants(lambda x: np.where(np.abs(x) <= 4e-16 * scale[:, None], 0.0, x), x)
