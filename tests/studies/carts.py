"""A cart on a rail, pushed by a constant force from rest: x = F t^2/(2 m), so that optima are known in closed form."""

from __future__ import annotations

import bellcrank as bc

CART = """
format = 1
name = "cart"
gravity = [0, 0, 0]
duration = 1.0
step = 0.05
[parameters]
m = 2.0        # kg, to be found
F = 3.0
[bodies.cart]
mass = "=m"
center = [0, 0, 0]
inertia = [1, 1, 1]
[joints.rail]
type = "prismatic"
parent = "ground"
child = "cart"
point = [0, 0, 0]
axis = "x"
[motors.push]
joint = "rail"
effort = "=F"
[initial]
rail = { q = 0.0, v = 0.0 }
"""


def cart():
    return bc.load(CART)
