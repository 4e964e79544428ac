"""A humanoid of 36 degrees of freedom: a free pelvis and 30 hinges, about 60 kg and 1.7 m tall.

x forward, y left, z up; hinges and offsets lie along the axes, as in real robots and unlike random trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..joints import make_joint
from .model import Model

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
Triple = tuple[float, float, float]


class Part(NamedTuple):
    """A hinge and the part that it carries: metres, kilograms; offset and centre from the joint points."""

    name: str
    parent: str
    axis: str
    offset: Triple
    mass: float
    center: Triple
    inertia: Triple


PELVIS = Part("pelvis", "", "", (0.0, 0.0, 0.0), 8.0, (0.0, 0.0, 0.04), (0.060, 0.045, 0.065))

TRUNK = (
    Part("waist_yaw", "pelvis", "z", (0.0, 0.0, 0.10), 1.5, (0.0, 0.0, 0.02), (0.0030, 0.0030, 0.0040)),
    Part("waist_roll", "waist_yaw", "x", (0.0, 0.0, 0.05), 1.5, (0.0, 0.0, 0.02), (0.0030, 0.0030, 0.0040)),
    Part("waist_pitch", "waist_roll", "y", (0.0, 0.0, 0.05), 16.0, (0.0, 0.0, 0.17), (0.260, 0.200, 0.150)),
    Part("neck_yaw", "waist_pitch", "z", (0.0, 0.0, 0.36), 0.5, (0.0, 0.0, 0.02), (0.0006, 0.0006, 0.0005)),
    Part("neck_roll", "neck_yaw", "x", (0.0, 0.0, 0.04), 0.5, (0.0, 0.0, 0.02), (0.0006, 0.0006, 0.0005)),
    Part("neck_pitch", "neck_roll", "y", (0.0, 0.0, 0.04), 3.5, (0.02, 0.0, 0.09), (0.0180, 0.0200, 0.0140)),
)

# The left side; y is mirrored for the right. Parents without a prefix belong to the trunk.
LEFT = (
    Part("hip_yaw", "pelvis", "z", (0.0, 0.09, -0.05), 1.0, (0.0, 0.0, -0.03), (0.0020, 0.0020, 0.0015)),
    Part("hip_roll", "hip_yaw", "x", (0.0, 0.0, -0.06), 1.0, (0.0, 0.0, -0.01), (0.0015, 0.0020, 0.0020)),
    Part("hip_pitch", "hip_roll", "y", (0.0, 0.0, 0.0), 5.0, (0.0, 0.02, -0.18), (0.070, 0.068, 0.014)),
    Part("knee", "hip_pitch", "y", (0.0, 0.0, -0.40), 3.0, (0.0, 0.0, -0.17), (0.042, 0.041, 0.005)),
    Part("ankle_pitch", "knee", "y", (0.0, 0.0, -0.40), 0.4, (0.0, 0.0, -0.01), (0.0003, 0.0004, 0.0004)),
    Part("ankle_roll", "ankle_pitch", "x", (0.0, 0.0, 0.0), 1.0, (0.04, 0.0, -0.05), (0.0012, 0.0045, 0.0048)),
    Part("shoulder_pitch", "waist_pitch", "y", (0.0, 0.18, 0.30), 0.8, (0.0, 0.02, 0.0), (0.0012, 0.0010, 0.0012)),
    Part("shoulder_roll", "shoulder_pitch", "x", (0.0, 0.03, 0.0), 0.7, (0.0, 0.0, -0.02), (0.0010, 0.0010, 0.0008)),
    Part("shoulder_yaw", "shoulder_roll", "z", (0.0, 0.0, -0.10), 1.2, (0.0, 0.0, -0.08), (0.0070, 0.0070, 0.0012)),
    Part("elbow", "shoulder_yaw", "y", (0.0, 0.0, -0.18), 1.0, (0.0, 0.0, -0.10), (0.0060, 0.0060, 0.0008)),
    Part("wrist_roll", "elbow", "x", (0.0, 0.0, -0.24), 0.2, (0.0, 0.0, -0.01), (0.0001, 0.0001, 0.0001)),
    Part("wrist_pitch", "wrist_roll", "y", (0.0, 0.0, -0.02), 0.5, (0.0, 0.0, -0.06), (0.0010, 0.0009, 0.0003)),
)


def humanoid() -> Model:
    """The humanoid, standing with straight legs, its pelvis 0.96 m above the ground."""
    parts = [PELVIS, *TRUNK, *_side("left", 1.0), *_side("right", -1.0)]
    row = {part.name: i for i, part in enumerate(parts)}
    nv = 6 + len(parts) - 1
    return Model(
        name="humanoid",
        joint_names=("base", *(part.name for part in parts[1:])),
        body_names=("pelvis", *(f"{part.name}_link" for part in parts[1:])),
        parents=tuple(row.get(part.parent, -1) for part in parts),
        joints=(make_joint("free"), *(make_joint("revolute", axis=AXES[part.axis]) for part in parts[1:])),
        position=np.array([part.offset for part in parts]),
        mass=np.array([part.mass for part in parts]),
        center=np.array([part.center for part in parts]),
        inertia=np.array([np.diag(part.inertia) for part in parts]),
        armature=np.zeros(nv),
        gravity=np.array([0.0, 0.0, -9.81]),
        given_q=np.array([0.0, 0.0, 0.96, 1.0, 0.0, 0.0, 0.0] + [0.0] * (nv - 6)),
        given_v=np.zeros(nv),
    )


def _side(side: str, sign: float) -> list[Part]:
    shared = {PELVIS.name, *(part.name for part in TRUNK)}
    return [
        part._replace(
            name=f"{side}_{part.name}",
            parent=part.parent if part.parent in shared else f"{side}_{part.parent}",
            offset=_mirrored(part.offset, sign),
            center=_mirrored(part.center, sign),
        )
        for part in LEFT
    ]


def _mirrored(a: Triple, sign: float) -> Triple:
    return a[0], sign * a[1] + 0.0, a[2]
