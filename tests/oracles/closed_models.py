"""Models of the published problems with closed loops, in the design position at their start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.joints import make_joint
from bellcrank.model import Element, Model

from ..closed import between
from ..closed_linkages import Bar, linkage, polar
from .numbers import oracle


def bodies(name: str, rows: list[dict[str, Any]], gravity: Any) -> tuple[Model, np.ndarray]:
    """Rows with name, parent, joint, at, mass, center, inertia, all in world coordinates; and the bodies' origins."""
    origins = np.array([*(row["at"] for row in rows), np.zeros(3)], dtype=float)
    joints = tuple(make_joint(**row["joint"]) for row in rows)
    parents = [row["parent"] for row in rows]
    model = Model(
        name=name,
        joint_names=tuple(f"{row['name']}_joint" for row in rows),
        body_names=tuple(row["name"] for row in rows),
        parents=tuple(parents),
        joints=joints,
        position=origins[:-1] - origins[parents],
        mass=[row["mass"] for row in rows],
        center=np.array([row["center"] for row in rows]) - origins[:-1],
        inertia=[row["inertia"] for row in rows],
        armature=np.zeros(sum(joint.nv for joint in joints)),
        gravity=gravity,
        given_q=[x for joint in joints for x in joint.neutral],
        given_v=np.zeros(sum(joint.nv for joint in joints)),
    )
    return model, origins


def quarter_car() -> Model:
    """Arm, knuckle, front and rear upper link, tie rod; the ball joints at the links' ends close three loops."""
    data = oracle("kang_quartercar")
    P = {name: np.array(x) for name, x in data["points"].items()}
    mass, inertia = data["masses"], data["inertias"]
    rows = [
        _row("arm", -1, {"kind": "revolute", "axis": P["A1"] - P["A2"]}, P["A2"], mass, data["com"]["arm"], inertia),
        _row("knuckle", 0, {"kind": "spherical"}, P["LB"], mass, data["com"]["knuckle"], inertia),
    ]
    for link in ("UF", "UR", "TR"):
        axes = data["universal_axes"][link]
        joint = {"kind": "universal", "axis": axes["first_chassis_fixed"], "axis2": axes["second_link_fixed"]}
        rows.append(_row(link, -1, joint, P[link], mass, (P[link] + P[f"{link}k"]) / 2, inertia))
    model, origins = bodies("quarter car", rows, (0.0, 0.0, -data["g"]))
    balls = [
        between(f"{link}_ball", 2 + k, 1, P[f"{link}k"], origins, "spherical") for k, link in enumerate(("UF", "UR", "TR"))
    ]
    spring = {"stiffness": data["spring"]["k"], "damping": data["spring"]["c"], "length": data["spring"]["L0"], "preload": 0.0}
    ends = {"body_a": -1, "point_a": tuple(P["SP"]), "body_b": 0, "point_b": tuple(P["SPa"] - P["A2"])}
    return replace(model, closures=tuple(balls), elements=(Element("spring", "spring_damper", spring, **ends),))


def _row(name: str, parent: int, joint: Any, at: Any, mass: Any, center: Any, inertia: Any) -> dict[str, Any]:
    given = {"name": name, "parent": parent, "joint": joint, "at": at, "center": center}
    return given | {"mass": mass[name], "inertia": inertia[name]}


def five_bar(psi: float) -> Model:
    """Three hinges, a slider, and a slider to ground that closes the loop: its parent is bar 4 and its child ground."""
    guide = polar(1.0, psi)
    A = polar(1.0, np.pi / 4)
    P = A + polar(1.0, 3 * np.pi / 4)
    points = [np.zeros(3), A, P, P + guide, P + 2 * guide]
    joints = [("revolute", (0, 0, 1))] * 3 + [("prismatic", tuple(guide))]
    bars = [Bar(f"bar{k + 1}", k - 1, points[k], points[k + 1], joints[k]) for k in range(4)]
    model, origins = linkage("five-bar", bars)
    return replace(model, closures=(between("q5", 3, -1, points[4], origins, "prismatic", tuple(guide)),))


def stewart() -> Model:
    """Three motors of 10 N m with a leg each, the platform on a ball of the first leg, balls to the other two."""
    data = oracle("huang_stewart")["cases"]["table_disc"]
    J, centers = np.array(data["joint_positions"]), np.array(data["mass_centers"])
    axis = {name: np.array(x) for name, x in data["joint_axes"].items()}

    def slender(along: np.ndarray, own: float, across: float) -> np.ndarray:
        u = along / np.linalg.norm(along)
        return across * np.eye(3) + (own - across) * np.outer(u, u)

    rows: list[dict[str, Any]] = []
    for i in range(3):
        motor, knee = axis[f"J{i + 7}"], axis[f"J{i + 4}"]
        rotor = {
            "name": f"rotor{i + 1}",
            "parent": -1,
            "joint": {"kind": "revolute", "axis": motor},
            "at": J[i + 6],
            "mass": 1.0,
        }
        leg = {"name": f"leg{i + 1}", "parent": 2 * i, "joint": {"kind": "revolute", "axis": knee}, "at": J[i + 3], "mass": 5.0}
        rows.append(rotor | {"center": centers[i + 3], "inertia": slender(motor, 0.01, 0.1)})
        rows.append(leg | {"center": centers[i], "inertia": slender(J[i] - J[i + 3], 0.07, 0.7)})
    platform = {"name": "platform", "parent": 1, "joint": {"kind": "spherical"}, "at": J[0], "mass": 10.0}
    rows.append(platform | {"center": centers[6], "inertia": np.diag([2.5, 2.5, 5.0])})
    model, origins = bodies("platform on three legs", rows, (0.0, 0.0, -9.81))
    balls = [between(f"ball{i + 1}", 2 * i + 1, 6, J[i], origins, "spherical") for i in (1, 2)]
    motors = [Element(f"motor{i + 1}", "joint_effort", {"value": 10.0}, joint=2 * i) for i in range(3)]
    return replace(model, closures=tuple(balls), elements=tuple(motors))
