"""MJCF models for the tests: one with every feature, and random ones."""

from __future__ import annotations

import numpy as np

EVERY = """<mujoco model="every feature">
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default><joint damping="0.1" armature="0.02"/><geom density="700"/></default>
  <asset>
    <mesh name="wedge" vertex="0 0 0  0.3 0 0  0 0.2 0  0 0 0.1  0.3 0.2 0.1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <site name="beacon" pos="1 2 3"/>
    <body name="base" pos="0.1 0.2 0.9" euler="0.3 0.2 0.1">
      <freejoint name="root"/>
      <geom type="mesh" mesh="wedge"/>
      <geom type="box" size=".2 .1 .3"/>
      <site name="hook" pos="0.1 0.02 0.3"/>
      <body name="shelf" pos="0 0.3 0.2" euler="0.1 0 0.5">
        <geom type="sphere" size=".07"/>
        <body name="arm" pos="0.1 0.2 0.3" euler="0.4 0.6 -0.3" gravcomp="0.4">
          <joint name="roll" axis="1 0 0" pos="0.05 0 0.1" ref="0.3" stiffness="3" springref="0.5"/>
          <joint name="pitch" axis="0 1 0.2" pos="0.0 0.02 0.1" range="-1 1"/>
          <joint name="reach" type="slide" axis="0 0.3 1" pos="0.0 0.02 0.1" ref="0.1" frictionloss="0.2"/>
          <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0.1 0.2"/>
          <body name="hand" pos="0.3 0.1 0.2" euler="0.2 0.6 0.3">
            <joint name="wrist" type="ball" damping="0.3" stiffness="2"/>
            <geom type="ellipsoid" size="0.1 0.05 0.08"/>
            <site name="tip" pos="0 0.1 0"/>
          </body>
        </body>
      </body>
    </body>
    <body name="cart" pos="1 0 0">
      <joint name="rail" type="slide" axis="1 1 0" damping="2"/>
      <inertial pos="0 0 0.1" mass="2" fullinertia="0.1 0.2 0.15 0.01 0.02 -0.03"/>
      <site name="eye" pos="0 0 .1"/>
    </body>
    <body name="ball" pos="0 3 0"><joint name="loose" type="free" armature="0.3" damping="0.2" stiffness="5"/><geom size="0.2"/></body>
  </worldbody>
  <tendon>
    <spatial name="rope" stiffness="30" damping="2" springlength="0.7"><site site="tip"/><site site="eye"/></spatial>
    <fixed name="winch" stiffness="4" damping="0.5" springlength="0.2"><joint joint="pitch" coef="1.5"/></fixed>
    <fixed name="both" stiffness="7" damping="0.3" springlength="0.1">
      <joint joint="roll" coef="1.5"/><joint joint="reach" coef="-0.5"/>
    </fixed>
  </tendon>
  <actuator>
    <motor name="push" joint="roll" gear="3"/>
    <position name="servo" joint="pitch" kp="10" kv="0.7" gear="2"/>
    <velocity name="crawl" joint="reach" kv="1.3"/>
    <motor name="pull" tendon="both" gear="1.7"/>
    <position name="hold" tendon="both" kp="5" kv="0.4" gear="0.8"/>
    <motor name="twist" joint="wrist" gear="0.2 0.5 1"/>
    <general name="drive" joint="rail" gainprm="2" biasprm="0.3 -1 -0.2" biastype="affine"/>
    <motor name="thrust" site="hook" gear="0 0 1 0.1 0 0.2"/>
    <general name="wind" site="tip" refsite="beacon" gear="1 .5 .2 .1 .2 .3" gainprm="0" biastype="affine" biasprm="2 0 0"/>
    <general name="jet" site="tip" gear="1 .5 .2 .1 .2 .3" gainprm="0" biastype="affine" biasprm=".2 0 0"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0.2 0.3 1 1 0.1 0.2 0.3 0.4 0.1 0.2 1 0 0.5 0 0.3 1 2 3 1 0 0 0"
         qvel="1 2 3 .1 .2 .3 .4 .5 .6 .7 .8 .9 1 0 0 0 0 0 2"/>
    <key name="away" qpos="0 0 1 1 0 0 0 0 0 0 1 0 0 0 0 0 0 0 1 0 0 0"/>
  </keyframe>
</mujoco>
"""


class Tree:
    """A random tree of bodies with all kinds of joints, actuators and tendons."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.bodies = 0
        self.scalar: list[str] = []
        self.balls: list[str] = []
        self.sites: list[str] = []
        world = "".join(self.body(0) for _ in range(self.rng.integers(1, 4)))
        tendons, actuators = self.tendons(), self.actuators()
        self.text = (
            f'<mujoco model="tree {seed}"><option gravity="{self.numbers(3, 9)}"/><worldbody>{world}</worldbody>\n'
            f"<tendon>{tendons}</tendon><actuator>{actuators}</actuator></mujoco>"
        )

    def numbers(self, count: int, size: float) -> str:
        return " ".join(f"{x:.6g}" for x in self.rng.uniform(-size, size, count))

    def maybe(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def body(self, depth: int) -> str:
        name, self.bodies = f"b{self.bodies}", self.bodies + 1
        kinds = [["hinge"], ["slide"], ["ball"], [], ["hinge", "slide", "hinge"], ["slide", "ball"]]
        chosen = kinds[self.rng.integers(len(kinds))] if depth or self.maybe(0.5) else ["free"]
        joints = "".join(self.joint(name, k, kind) for k, kind in enumerate(chosen))
        shape = self.rng.choice(["box", "sphere", "capsule", "cylinder", "ellipsoid"])
        size = " ".join(f"{x:.4g}" for x in self.rng.uniform(0.05, 0.2, 3))
        geom = f'<geom type="{shape}" size="{size}" pos="{self.numbers(3, 0.2)}" euler="{self.numbers(3, 90)}"/>'
        self.sites.append(f"s_{name}")
        site = f'<site name="s_{name}" pos="{self.numbers(3, 0.3)}" euler="{self.numbers(3, 90)}"/>'
        inner = "".join(self.body(depth + 1) for _ in range(self.rng.integers(0, 3))) if depth < 3 else ""
        lift = f' gravcomp="{self.rng.uniform():.3f}"' if self.maybe(0.2) else ""
        place = f'pos="{self.numbers(3, 0.5)}" euler="{self.numbers(3, 180)}"'
        return f'<body name="{name}" {place}{lift}>{joints}{geom}{site}{inner}</body>'

    def joint(self, body: str, k: int, kind: str) -> str:
        name = f"{kind}{k}_{body}"
        given = f'name="{name}" type="{kind}" armature="{self.rng.uniform(0, 0.1):.4f}" damping="{self.rng.uniform():.4f}"'
        if kind in ("hinge", "slide"):
            self.scalar.append(name)
            given += f' axis="{self.numbers(3, 1)}" ref="{self.numbers(1, 1)}"'
            if self.maybe(0.4):
                given += f' stiffness="{self.rng.uniform(0, 20):.4f}" springref="{self.numbers(1, 1)}"'
        else:
            self.balls.append(name)
        if kind != "free":
            given += f' pos="{self.numbers(3, 0.1)}"'
        return f"<joint {given}/>"

    def tendons(self) -> str:
        text = ""
        if self.scalar:
            text += f'<fixed name="one" stiffness="3" damping=".3"><joint joint="{self.scalar[0]}" coef="-1.2"/></fixed>'
        if len(self.scalar) > 2:
            terms = "".join(f'<joint joint="{name}" coef="{self.numbers(1, 2)}"/>' for name in self.scalar[:3])
            text += f'<fixed name="three">{terms}</fixed>'
        if len(self.sites) > 2:
            ends = f'<site site="{self.sites[0]}"/><site site="{self.sites[-1]}"/>'
            text += f'<spatial name="rope" stiffness="20" damping="1" springlength=".3">{ends}</spatial>'
        return text

    def actuators(self) -> str:
        laws = (
            "motor",
            'position kp="7" kv="1"',
            'velocity kv="2"',
            'general gainprm="2" biastype="affine" biasprm=".4 -2 -.3"',
        )
        text = "".join(
            f'<{laws[self.rng.integers(4)]} name="a_{name}" joint="{name}" gear="{self.numbers(1, 3)}"/>'
            for name in self.scalar[:3]
        )
        text += '<motor name="a_three" tendon="three" gear="1.3"/>' if len(self.scalar) > 2 else ""
        balls = [name for name in self.balls if name.startswith("ball")]
        return text + "".join(f'<motor name="a_{name}" joint="{name}" gear="{self.numbers(3, 1)}"/>' for name in balls)
