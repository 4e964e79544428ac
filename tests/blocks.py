"""A block on a slide along x, as text: to its body and joint tests add the tables that they are about."""

from __future__ import annotations


def block(*tables: str, top: str = "", mass: float = 1.0) -> str:
    """``top``: keys that stand before all tables, such as the gravity."""
    head = f"""format = 1
name = "block"
{top}
[bodies.block]
point_mass = {{ at = [0, 0, 0], mass = {mass} }}
[joints.slide]
type = "prismatic"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "x"
"""
    return "\n".join([head, *tables])


FLOATING = "gravity = [0, 0, 0]"

# m x'' = -k x - c x' from x = 1, with roots -k/c = -0.5/s and -c/m = -2e5/s
OVERDAMPED = block(
    "[parameters]\nc = 2e5\nk = 1e5",
    '[springs.strut]\njoint = "slide"\nstiffness = "=k"',
    '[dampers.oil]\njoint = "slide"\ndamping = "=c"',
    "[initial]\nslide = 1.0",
    top=FLOATING,
)
