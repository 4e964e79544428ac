"""Stiff mechanisms: a flyball governor, a spatial slider-crank on bushings, a robot with smoothed friction."""

from __future__ import annotations

from math import cos, radians, sin

import bellcrank as bc

ALPHA = radians(30)
REACH, DROP = sin(ALPHA), cos(ALPHA)

GOVERNOR = f"""
# The stiff flyball governor of the IFToMM library of multibody benchmarks (A05): the links to the slider are springs of
# 8e5 N/m with dampers of 4e4 N s/m.
format = 1
name = "governor"
duration = 10.0

[bodies.shaft]
box = {{ size = [0.01, 0.01, 1.0], center = [0, 0, -0.5], mass = 0.3 }}
[bodies.slider]
box = {{ size = [0.1, 0.1, 0.1], center = [0, 0, {-DROP}], mass = 3.0 }}
[bodies.left]
rod = {{ from = [0, 0, 0], to = [{REACH}, 0, {-DROP}], mass = 0.3, radius = 0.005 }}
[bodies.right]
rod = {{ from = [0, 0, 0], to = [{-REACH}, 0, {-DROP}], mass = 0.3, radius = 0.005 }}
[bodies.left_ball]
point_mass = {{ at = [{REACH}, 0, {-DROP}], mass = 5 }}
[bodies.right_ball]
point_mass = {{ at = [{-REACH}, 0, {-DROP}], mass = 5 }}

[joints.spin]
type = "revolute"
parent = "ground"
child = "shaft"
point = [0, 0, 0]
axis = "z"
[joints.slide]
type = "prismatic"
parent = "shaft"
child = "slider"
point = [0, 0, {-DROP}]
axis = "z"
[joints.left_hinge]
type = "revolute"
parent = "shaft"
child = "left"
point = [0, 0, 0]
axis = "y"
[joints.right_hinge]
type = "revolute"
parent = "shaft"
child = "right"
point = [0, 0, 0]
axis = "y"
[joints.left_weld]
type = "fixed"
parent = "left"
child = "left_ball"
point = [{REACH}, 0, {-DROP}]
[joints.right_weld]
type = "fixed"
parent = "right"
child = "right_ball"
point = [{-REACH}, 0, {-DROP}]

[springs.left_link]
from = {{ body = "left", at = [{REACH / 2}, 0, {-DROP / 2}] }}
to = {{ body = "slider", at = [0, 0, 0] }}
stiffness = 8e5
damping = 4e4
length = 0.5
[springs.right_link]
from = {{ body = "right", at = [{-REACH / 2}, 0, {-DROP / 2}] }}
to = {{ body = "slider", at = [0, 0, 0] }}
stiffness = 8e5
damping = 4e4
length = 0.5

[initial]
spin = {{ v = 6.283185307179586 }}
"""

SLIDER_CRANK = """
# The crank turns about x, the slider moves along x; the rod is held by two bushings in place of its joints.
format = 1
name = "slider_crank_on_bushings"
duration = 5.0

[points]
pivot = [0, 0.1, 0.12]
pin = [0, 0.1, 0.2]
wrist = [0.2, 0, 0]

[bodies.crank]
rod = { from = "pivot", to = "pin", mass = 0.12, radius = 0.01 }
[bodies.rod]
rod = { from = "pin", to = "wrist", mass = 0.5, radius = 0.01 }
[bodies.slider]
box = { size = [0.05, 0.05, 0.05], center = "wrist", mass = 2.0 }

[joints.shaft]
type = "revolute"
parent = "ground"
child = "crank"
point = "pivot"
axis = "x"
[joints.rod_is_free]
type = "free"
parent = "ground"
child = "rod"
point = "pin"
[joints.guide]
type = "prismatic"
parent = "ground"
child = "slider"
point = "wrist"
axis = "x"

[bushings.crank_pin]
parent = "crank"
child = "rod"
point = "pin"
stiffness = [1e7, 1e7, 1e7]
damping = [1e4, 1e4, 1e4]
turning_stiffness = [0, 0, 0]
turning_damping = [0.1, 0.1, 0.1]
[bushings.wrist_pin]
parent = "slider"
child = "rod"
point = "wrist"
stiffness = [1e7, 1e7, 1e7]
damping = [1e4, 1e4, 1e4]
turning_stiffness = [0, 0, 0]
turning_damping = [0.1, 0.1, 0.1]

[initial]
shaft = { v = 6.0 }
"""


def robot(joints: int = 6) -> str:
    """An arm that falls from the horizontal and comes to rest by Coulomb friction, smoothed below a velocity of 1e-4 rad/s."""
    text = ['format = 1\nname = "robot"\nduration = 5.0\n']
    lengths, masses = (0.1, 0.4, 0.4, 0.1, 0.1, 0.1), (8.0, 6.0, 4.0, 2.0, 1.0, 0.5)
    axes, frictions = ("z", "y", "y", "x", "y", "x"), (10.0, 20.0, 10.0, 1.0, 1.0, 0.2)
    x, parent = 0.0, "ground"
    for k in range(joints):
        end = x + lengths[k]
        text.append(
            f"[bodies.link{k}]\nrod = {{ from = [{x}, 0, 0], to = [{end}, 0, 0], mass = {masses[k]}, radius = 0.05 }}\n"
        )
        text.append(f'[joints.j{k}]\ntype = "revolute"\nparent = "{parent}"\nchild = "link{k}"\n')
        text.append(f'point = [{x}, 0, 0]\naxis = "{axes[k]}"\n')
        text.append(f'[frictions.f{k}]\njoint = "j{k}"\neffort = {frictions[k]}\nvelocity = 1e-4\n')
        x, parent = end, f"link{k}"
    text.append("[initial]\nj0 = { v = 2.0 }\nj3 = { v = 1.0 }\n")
    return "".join(text)


def stiff_models() -> dict[str, bc.Model]:
    return {"governor": bc.load(GOVERNOR), "slider-crank": bc.load(SLIDER_CRANK), "robot": bc.load(robot())}
