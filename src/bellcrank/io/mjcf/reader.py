"""MJCF, compiled by MuJoCo itself: defaults, includes, meshes, inertias from geoms. Its arrays become our bodies and forces.

The design position is qpos0. MuJoCo's names of arrays are kept: ``jnt_axis``, ``dof_damping``, ...
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import MissingExtraError, ModelError
from ...model import Spec, Where
from ...model.source import Source
from ...model.spec.problems import names
from ...model.spec.spec import InitialSpec, LimitsSpec
from ..exchange.imported import Array, ImportedBody, ImportedJoint, ImportedParts, matrix_of, quaternion_of, square
from ..exchange.markup import XmlElement
from ..exchange.mujoco_log import without_log
from ..exchange.states import Ball, FloatingMuJoCo
from ..options import Options, file_name
from .files import Document, check_files
from .forces import BALL, FREE, HINGE, SLIDE, actuators, add_forces
from .looks import add_looks
from .loops import add_loops
from .numbers import check_numbers, rounding
from .rest import list_rest

WORDS = ("free", "ball", "slide", "hinge")
KINDS = {FREE: "free", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}


def read_spec(root: XmlElement, file: str, options: Options) -> Spec:
    """The mechanism of an MJCF file; raises ModelError."""
    from_text = not Path(file).is_file()
    documents = check_files(root, file, options, from_text=from_text)
    check_numbers(documents)
    compiled = Compiled(_compile(root, file, from_text=from_text), _lines(documents, file))
    bodies = compiled.bodies()
    if not bodies:
        raise ModelError(f"{file}: it has no body. Give it one at least.")
    assembly = ImportedParts(bodies, keep=options.fixed == "keep")
    for i in range(compiled.m.nsite):
        body = int(compiled.m.site_bodyid[i])
        assembly.point(compiled.name("site", i), body - 1, compiled.R[body] @ compiled.m.site_pos[i])
    add_forces(compiled, assembly)
    add_loops(compiled, assembly)
    start_from(compiled, assembly, options, file)
    list_rest(compiled, assembly)
    add_looks(compiled, assembly)
    title = root.attributes.get("model") or ("model" if from_text else Path(file).stem)
    gravity = np.zeros(3) if compiled.disabled("gravity") else compiled.m.opt.gravity
    source = Source("mjcf", file_name(file), rounding=rounding(documents) if assembly.closing else 0.0)
    if source.rounding:
        assembly.remarks.append(
            "its numbers look rounded: parts that close loops count as aligned, and their equations as redundant, if they are "
            f"out of line by less than {source.misalignment:.1g} (rank_tolerance)"
        )
    return assembly.spec(title, source, gravity=gravity)


def _compile(root: XmlElement, file: str, *, from_text: bool) -> Any:
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError(f'{file}: MJCF files need mujoco. Install it with: pip install "bellcrank[robots]"') from None
    try:
        with without_log(mujoco):
            if from_text:
                return mujoco.MjModel.from_xml_string(root.write())
            return mujoco.MjModel.from_xml_path(os.path.abspath(file))  # from relative paths included files are not found
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{file}: MuJoCo's compiler rejects it: {reason}") from None


def _lines(documents: Sequence[Document], file: str) -> Callable[[str, str], Where]:
    """The line of an element of some kind and name; the file alone for one that was made from defaults or copies."""
    found: dict[tuple[str, str], Where] = {}
    for document in documents:
        for node in document.root.walk():
            found.setdefault((node.tag, node.attributes.get("name", "")), Where(document.name, node.line))
    return lambda kind, name: found.get((kind, name), Where(file))


class Compiled:
    """A compiled model, with the axes R and origins p of its bodies at qpos0 (row 0 is the world).

    ``where`` gives the file and line of an element by its kind and name.
    """

    def __init__(self, m: Any, where: Callable[[str, str], Where]) -> None:
        import mujoco

        self.m, self.mujoco, self.where = m, mujoco, where
        self.R: list[Array] = [np.eye(3)]
        self.p: list[Array] = [np.zeros(3)]  # from the parent's origin, in world axes
        for b in range(1, m.nbody):
            parent = int(m.body_parentid[b])
            self.R.append(self.R[parent] @ matrix_of(m.body_quat[b]))
            self.p.append(self.R[parent] @ m.body_pos[b])

    def name(self, kind: str, i: int) -> str:
        """The name of something, or one made from its kind and number."""
        found = self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), i)
        if not found and kind == "joint":  # one of a body that has a name is known by that
            return f"{self.name('body', int(self.m.jnt_bodyid[i]))}_{WORDS[int(self.m.jnt_type[i])]}"
        return found or f"{kind}_{i}"

    def disabled(self, what: str) -> bool:
        """Whether a flag of <option> switches something off."""
        bit = getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{what.upper()}", None)
        return bit is not None and bool(self.m.opt.disableflags & int(bit))

    def array(self, name: str, i: int) -> Array:
        """A row of an array that some versions of MuJoCo do not have: then nothing."""
        found = getattr(self.m, name, None)
        return np.zeros(0) if found is None else np.atleast_1d(np.asarray(found[i], dtype=float))

    def bodies(self) -> list[ImportedBody]:
        return [self._body(b) for b in range(1, self.m.nbody)]

    def _body(self, b: int) -> ImportedBody:
        m, R = self.m, self.R[b]
        turn = R @ matrix_of(m.body_iquat[b])
        first = int(m.body_jntadr[b])
        joints = [self._joint(j, R) for j in range(first, first + int(m.body_jntnum[b]))]
        J = turn @ np.diag(m.body_inertia[b]) @ turn.T
        name = self.name("body", b)
        mass, center, where = float(m.body_mass[b]), R @ m.body_ipos[b], self.where("body", name)
        return ImportedBody(name, int(m.body_parentid[b]) - 1, R, self.p[b], mass, center, J, joints, where)

    def _joint(self, j: int, R: Array) -> ImportedJoint:
        m, kind = self.m, int(self.m.jnt_type[j])
        scalar = kind in (SLIDE, HINGE)
        reference = float(m.qpos0[m.jnt_qposadr[j]]) if scalar else 0.0
        return ImportedJoint(
            self.name("joint", j),
            KINDS[kind],
            np.zeros(3) if kind == FREE else R @ m.jnt_pos[j],
            R @ m.jnt_axis[j] if scalar else None,
            armature=self._armature(j),
            reference=(reference,) if scalar else (),
            limits=self._limits(j, reference) if scalar else None,
            where=self.where("joint", self.name("joint", j)),
        )

    def _armature(self, j: int) -> Any:
        """The armature; of a free joint only the turning part: see forces.py for the other."""
        at, kind = int(self.m.jnt_dofadr[j]), int(self.m.jnt_type[j])
        value = float(self.m.dof_armature[at]) + self.actuator_armature(j)
        if kind == FREE:
            return (0.0, 0.0, 0.0, value, value, value) if value else 0.0
        return value

    def actuator_armature(self, j: int) -> float:
        """Rotor inertia of the actuators on a joint: armature gear^2."""
        total = 0.0
        for i in range(actuators(self.m)):
            if int(self.m.actuator_trntype[i]) in (0, 1) and int(self.m.actuator_trnid[i, 0]) == j:
                total += float(self.array("actuator_armature", i).sum()) * square(float(self.m.actuator_gear[i, 0]))
        return total

    def _limits(self, j: int, reference: float) -> LimitsSpec | None:
        m = self.m
        lower, upper = (m.jnt_range[j] - reference).tolist() if m.jnt_limited[j] else (None, None)
        effort = float(np.abs(m.jnt_actfrcrange[j]).max()) if m.jnt_actfrclimited[j] else None
        return None if lower is None and effort is None else LimitsSpec(lower, upper, None, effort)


def start_from(compiled: Compiled, assembly: ImportedParts, options: Options, file: str) -> None:
    """The start from a keyframe: the one that the user names, or the first."""
    m = compiled.m
    keys = [compiled.name("key", k) for k in range(m.nkey)]
    if options.keyframe is not None:
        k = _chosen(keys, options.keyframe, file)
    elif np.array_equal(m.key_qpos, np.tile(m.qpos0, (m.nkey, 1))) and not m.key_qvel.any():  # none, or none that says anything
        return
    else:
        k = 0
    assembly.remarks.append(
        f'starts from the keyframe "{keys[k]}"' + (f"; there are {names(keys, 6)}" if len(keys) > 1 else "")
    )
    if np.asarray(m.key_ctrl[k]).any():
        assembly.unsimulated.append(f'controls of the keyframe "{keys[k]}": give them as inputs')
    for b, theirs in enumerate(assembly.theirs):
        first = int(m.body_jntadr[b + 1])
        for n, name in enumerate(assembly.joint_names[b] if theirs.moves else []):
            start = _start(compiled, first + n, theirs, m.key_qpos[k], m.key_qvel[k])
            if start is not None:
                assembly.initial.append(InitialSpec(name, *start))


def _chosen(keys: Sequence[str], wanted: str | int, file: str) -> int:
    if isinstance(wanted, int) and 0 <= wanted < len(keys):
        return wanted
    if wanted in keys:
        return keys.index(str(wanted))
    there = f"It has {names(keys)}." if keys else "It has none."
    raise ModelError(f"{file}: there is no keyframe {wanted!r}. {there}")


def _start(compiled: Compiled, j: int, body: ImportedBody, qpos: Array, qvel: Array) -> tuple[Any, Any] | None:
    """q and v of one joint, or None where it is in the design position, at rest."""
    m, kind = compiled.m, int(compiled.m.jnt_type[j])
    at, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
    if kind in (SLIDE, HINGE):
        q, v = qpos[at : at + 1] - m.qpos0[at], qvel[dof : dof + 1]
        return _written(q, v) if q.any() or v.any() else None
    piece = FloatingMuJoCo(quaternion_of(body.R)) if kind == FREE else Ball(quaternion_of(body.R))
    there = np.array(qpos[at : at + piece.theirs])
    there[-4:] /= np.linalg.norm(there[-4:])
    q, design = piece.here(there), piece.here(np.array(m.qpos0[at : at + piece.theirs]))
    v = piece.T(q).T @ qvel[dof : dof + (6 if kind == FREE else 3)]
    return _written(q, v) if np.abs(q - design).max() > 1e-15 or v.any() else None


def _written(q: Array, v: Array) -> tuple[Any, Any]:
    return tuple((q + 0.0).tolist()), (tuple((v + 0.0).tolist()) if v.any() else None)
