"""URDF, read by yourdfpy: links in frames of their own become bodies, mimic joints couplers.

The text is looked through first: yourdfpy trusts what it reads, gives no line numbers, and leaves out what it does not know.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import MissingExtraError, ModelError
from ...model import Problems, Spec, Where
from ...model.order import outward_order
from ...model.source import Source
from ...model.spec.elements import CouplerSpec, FrictionSpec, JointDamper
from ...model.spec.problems import names
from ...model.spec.spec import InitialSpec, LimitsSpec
from ..exchange.imported import Array, ImportedBody, ImportedJoint, ImportedParts
from ..exchange.markup import XmlElement
from ..exchange.order import by_name
from ..options import Options, file_name
from .checks import KINDS, NUMBERS, check, peculiar, unknown_inertias
from .extras import extras
from .inertias import look_at_inertias
from .looks import add_looks
from .massless import look_at_massless
from .mimic import Mimics

ROOT_JOINT = "root_joint"  # as Pinocchio calls it


def read_spec(root: XmlElement, file: str, options: Options) -> Spec:
    """The mechanism of a URDF; raises ModelError."""
    check(root, file)
    robot = _robot(root, file)
    lines = {(node.tag, node.attributes["name"]): Where(file, node.line) for node in _parts(root)}
    reading = _Reading(robot, lines, dict(unknown_inertias(root, file)), options)
    return reading.spec(root, file)


def _parts(root: XmlElement) -> list[XmlElement]:
    return [*root.all("link"), *root.all("joint")]


def _robot(root: XmlElement, file: str) -> Any:
    """The robot as yourdfpy reads it, without the looks, the shapes that touch, and what is not part of URDF.

    Moments of inertia that are missing are zero, where yourdfpy would take 1 kg m2.
    """
    try:
        import yourdfpy
    except ImportError:
        raise MissingExtraError(f'{file}: URDF files need yourdfpy. Install it with: pip install "bellcrank[robots]"') from None
    wanted = {"link": {"inertial"}, "joint": {"parent", "child", *NUMBERS}}
    kept = XmlElement("robot", {"name": root.attributes.get("name") or "robot"}, root.line)
    for node in _parts(root):
        inside = [_completed(child) for child in node.children if child.tag in wanted[node.tag]]
        kept.children.append(XmlElement(node.tag, node.attributes, node.line, inside))
    text = io.BytesIO(kept.write().encode())
    return yourdfpy.URDF.load(text, build_scene_graph=False, load_meshes=False).robot


def _completed(node: XmlElement) -> XmlElement:
    zeros = dict.fromkeys(NUMBERS["inertia"], "0") if node.tag == "inertia" else {}
    return XmlElement(node.tag, zeros | node.attributes, node.line, [_completed(child) for child in node.children], node.text)


# --- from links to bodies


class _Reading:
    def __init__(
        self, robot: Any, lines: Mapping[tuple[str, str], Where], unknown: Mapping[str, str], options: Options
    ) -> None:
        self.robot, self.lines, self.options = robot, lines, options
        self.links = {link.name: link for link in robot.links}
        self.inboard = self._inboard()
        self.root = self._root()
        named = [joint.child for joint in robot.joints]
        self.bodies_of = [self.root, *named]  # links in the order of the file's joints
        self.index = {name: i for i, name in enumerate(self.bodies_of)}
        self.bodies = self._bodies()
        self.mimics = Mimics(robot.joints, lines)
        self.inertias = look_at_inertias(self.bodies, unknown, options)
        self.locked, self.undetermined = look_at_massless(self.bodies, self._ties(), options)

    def _where(self, tag: str, name: str) -> Where:
        return self.lines.get((tag, name), Where())

    def _inboard(self) -> dict[str, Any]:
        """The joint of which each link is the child."""
        found: dict[str, Any] = {}
        problems = Problems()
        for joint in self.robot.joints:
            if joint.child in found:
                text = f'link "{joint.child}" is the child of the joints "{found[joint.child].name}" and "{joint.name}".'
                remedy = "A URDF is a tree: remove one of them."
                problems.add(f"{text} {remedy}", self._where("joint", joint.name))
            found.setdefault(joint.child, joint)
        problems.raise_if_any()
        return found

    def _root(self) -> str:
        roots = [name for name in self.links if name not in self.inboard]
        if len(roots) != 1:
            if not roots:
                raise self._ring(next(iter(self.links)))
            where = self._where("link", roots[1])
            raise ModelError(
                f"{where}: the links {names(roots)} have no parent. A URDF is a tree: join all of them but one to another link."
            )
        return roots[0]

    def _ring(self, start: str) -> ModelError:
        """Links of which each is the child of the next, and the last of the first; ``start`` hangs on such a ring."""
        path = [start]
        while path.count(path[-1]) == 1:
            path.append(self.inboard[path[-1]].parent)
        ring = path[path.index(path[-1]) + 1 :]
        joints = [self.inboard[name].name for name in ring]
        what = f"the links {names(ring)} are each other's parents, through the joints {names(joints)}"
        if len(ring) == 1:
            what = f'link "{ring[0]}" is its own parent, through the joint "{joints[0]}"'
        remedy = "A URDF is a tree: remove one of these joints, or give it another parent."
        return ModelError(f"{self._where('joint', joints[0])}: {what}. {remedy}")

    def _bodies(self) -> list[ImportedBody]:
        parents = [-1, *(self.index[joint.parent] for joint in self.robot.joints)]
        order = outward_order(parents)
        if len(order) < len(parents):
            raise self._ring(self.bodies_of[min(set(range(len(parents))) - set(order))])
        R, p = np.zeros((len(parents), 3, 3)), np.zeros((len(parents), 3))
        R[0] = np.eye(3)
        for i in order[1:]:
            origin = self.inboard[self.bodies_of[i]].origin
            T = np.eye(4) if origin is None else origin
            R[i], p[i] = R[parents[i]] @ T[:3, :3], R[parents[i]] @ T[:3, 3]
        return [self._body(name, parents[i], R[i], p[i], self._joint(i, R[i], p[i])) for i, name in enumerate(self.bodies_of)]

    def _body(self, name: str, parent: int, R: Array, p: Array, joints: list[ImportedJoint]) -> ImportedBody:
        inertial = self.links[name].inertial
        origin = np.eye(4) if inertial is None or inertial.origin is None else inertial.origin
        turn = R @ origin[:3, :3]
        own = None if inertial is None else inertial.inertia
        J = np.zeros((3, 3)) if own is None else turn @ own @ turn.T
        mass = 0.0 if inertial is None or inertial.mass is None else float(inertial.mass)
        center = R @ origin[:3, 3]
        return ImportedBody(name, parent, R, p, mass, center, J, joints, self._where("link", name))

    def _joint(self, i: int, R: Array, p: Array) -> list[ImportedJoint]:
        here = np.zeros(3)
        if i == 0:
            floating = ImportedJoint(ROOT_JOINT, "free", here, where=self._where("link", self.root))
            return [floating] if self.options.base == "free" else []
        joint = self.inboard[self.bodies_of[i]]
        kind = KINDS[joint.type]
        axis, axis2 = None, None
        if kind in ("revolute", "prismatic", "planar"):
            axis = R @ (joint.axis / np.linalg.norm(joint.axis))
        if kind == "planar":
            axis2 = across(R, joint.axis)
        where = self._where("joint", joint.name)
        offset = tuple(p.tolist()) if kind == "free" else ()
        return [ImportedJoint(joint.name, kind, here, axis, axis2, reference=offset, limits=_limits(joint), where=where)]

    def _ties(self) -> list[tuple[int, int]]:
        """Links whose joints mimic each other."""
        child = {joint.name: self.index[joint.child] for joint in self.robot.joints}
        return [(child[name], child[leader]) for name, leader in self.mimics.leaders.items()]

    # --- the whole

    def spec(self, root: XmlElement, file: str) -> Spec:
        assembly = ImportedParts(self.bodies, keep=self.options.fixed == "keep")
        assembly.impossible = self.inertias.impossible
        assembly.undetermined = [assembly.joint_names[i][0] for i in sorted(self.undetermined)]
        self._forces(assembly)
        self._couple(assembly)
        self._order(assembly)
        self._warn_of_omissions(assembly, root, file)
        add_looks(assembly, root, self.index, file, self.options)
        name = root.attributes.get("name") or "robot"
        return assembly.spec(name, Source("urdf", file_name(file)), gravity=self.options.gravity)

    def _our_joint(self, assembly: ImportedParts, name: str) -> str | None:
        """Our name of a joint; None for one that cannot move."""
        i = self.index[self.joint(name).child]
        moving = assembly.kept(i) and self.bodies[i].moves
        return assembly.joint_names[i][0] if moving else None

    def joint(self, name: str) -> Any:
        return next(joint for joint in self.robot.joints if joint.name == name)

    def _forces(self, assembly: ImportedParts) -> None:
        """Damping, and friction, which is smooth here."""
        for joint in self.robot.joints:
            ours = self._our_joint(assembly, joint.name)
            if joint.dynamics is None or ours is None:
                continue
            for coordinate in _coordinates(KINDS[joint.type]):
                end = f"_{coordinate}" if coordinate else ""
                damping, friction = (float(x or 0.0) for x in (joint.dynamics.damping, joint.dynamics.friction))
                if damping:
                    assembly.add(JointDamper, f"{ours}_damping{end}", ours, damping, coordinate)
                if friction:
                    assembly.add(FrictionSpec, f"{ours}_friction{end}", ours, friction, coordinate=coordinate)

    def _couple(self, assembly: ImportedParts) -> None:
        """joint = multiplier * other + offset; with a multiplier of 0, or if the other is locked, it stays where it is."""
        for name, mimic in self.mimics.of.items():
            ours = self._our_joint(assembly, name)
            if ours is None or name not in self.mimics.leaders:
                assembly.unsimulated.append(f"mimic: {self._uncoupled(name, mimic.joint, moving=ours is not None)}")
                continue
            multiplier, offset = float(mimic.multiplier), float(mimic.offset)
            other = self._our_joint(assembly, mimic.joint)
            if not multiplier:
                assembly.remarks.append(f'joint "{name}" mimics "{mimic.joint}" with the multiplier 0: it stays at {offset:g}')
            terms = {ours: 1.0} | ({other: -multiplier} if other and multiplier else {})
            assembly.add(CouplerSpec, f"{ours}_mimic", tuple(terms), tuple(terms.values()), offset=offset or None)
            start = self.mimics.value(name)
            if start:
                assembly.initial.append(InitialSpec(ours, (start,)))

    def _uncoupled(self, name: str, leader: str, *, moving: bool) -> str:
        """The reason why a joint does not follow another one."""
        what = f'joint "{name}" ({self._where("joint", name)})'
        known = [joint.name for joint in self.robot.joints]
        if leader not in known:
            return f'{what} follows "{leader}", which is not a joint, and moves freely.{Problems().suggest(leader, known)}'
        why = "can move in more than one way, or not at all" if moving else "cannot move"
        return f'{what} cannot follow "{leader}": one of them {why}'

    def _order(self, assembly: ImportedParts) -> None:
        """Pinocchio goes depth first, by the names of joints, fixed ones too, which may have been merged here."""
        parents = [body.parent for body in self.bodies]
        theirs = [self.bodies[i].joints[0].name if self.bodies[i].joints else "" for i in range(len(parents))]
        order = [assembly.joint_names[i][0] for i in by_name(parents, theirs) if assembly.kept(i) and self.bodies[i].moves]
        kept = [i for i in range(len(parents)) if assembly.kept(i)]
        row = {i: k for k, i in enumerate(kept)} | {-1: -1}
        inner = [row[assembly.carrier[parents[i]]] if parents[i] >= 0 else -1 for i in kept]
        usual = by_name(inner, [assembly.joint_names[i][0] for i in kept])
        if order != [assembly.joint_names[kept[k]][0] for k in usual if self.bodies[kept[k]].moves]:
            assembly.order = order

    def _warn_of_omissions(self, assembly: ImportedParts, root: XmlElement, file: str) -> None:
        limited = [joint.name for body in self.bodies for joint in body.joints if joint.limits is not None]
        if limited:
            assembly.unsimulated.insert(0, f"limits of the joints {names(limited, 4)}")
        assembly.unsimulated += extras(root, file, self.options)
        if self.locked:
            assembly.unsimulated.append(f"motions of joints that move nothing that has mass: {names(self.locked, 4)}")
        if assembly.undetermined:
            moved = names(assembly.undetermined, 4)
            assembly.remarks.append(
                f"for kinematics only, without runs: nothing that has mass determines how {moved} accelerate"
            )
        assembly.remarks += [*self.inertias.remarks(), *peculiar(root)]


def _coordinates(kind: str) -> Sequence[str | None]:
    return {"free": ("vx", "vy", "vz", "wx", "wy", "wz"), "planar": ("x", "y", "angle")}.get(kind, (None,))


def _limits(joint: Any) -> LimitsSpec | None:
    """Limits as URDF means them: a revolute or prismatic joint without lower or upper has zero there."""
    if joint.limit is None or joint.type not in ("revolute", "continuous", "prismatic"):
        return None
    bounded = joint.type != "continuous"
    ends = [(0.0 if x is None else float(x)) if bounded else None for x in (joint.limit.lower, joint.limit.upper)]
    rest = [None if x is None else float(x) for x in (joint.limit.velocity, joint.limit.effort)]
    lower, upper, velocity, effort = (None if x is None or not math.isfinite(x) else x for x in (*ends, *rest))
    return LimitsSpec(lower, upper, velocity, effort)


def across(R: Array, axis: Array) -> Array:
    """x of a plane: that of the joint's frame where the normal is its z, else what is left of it, or of its y."""
    z = axis / np.linalg.norm(axis)
    x = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = x - (x @ z) * z
    return np.asarray(R @ (x / np.linalg.norm(x)))
