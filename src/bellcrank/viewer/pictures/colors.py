"""Colours of bodies: those of one loop have one hue, in different tints; those of no loop are grey."""

from __future__ import annotations

from matplotlib.colors import to_hex, to_rgb

from ...results.plots import PALETTE
from ..scene import Scene

INK, PAPER, GAP, DRIVEN, FORCE = "#22303c", "#ffffff", "#c1272d", "#f2b632", "#c1272d"
SLATE = "#64748b"
TINTS = (0.64, 0.5, 0.76)  # how much white is mixed into the hue, in turn


def mixed(color: str, other: str, part: float) -> str:
    """A colour with a part of another one."""
    r, g, b = ((1 - part) * x + part * y for x, y in zip(to_rgb(color), to_rgb(other), strict=True))
    return str(to_hex((r, g, b)))


def loop_color(number: int) -> str:
    return PALETTE[number % len(PALETTE)]


def body_colors(scene: Scene) -> list[tuple[str, str]]:
    """Fill and edge of each body, and in the end of ground."""
    found, seen = [], [0] * (len(scene.loops) + 1)
    for row in range(len(scene.bodies)):
        loop = next((k for k, bodies in enumerate(scene.loops) if row in bodies), len(scene.loops))
        base = loop_color(loop) if loop < len(scene.loops) else SLATE
        found.append((mixed(base, PAPER, TINTS[seen[loop] % len(TINTS)]), mixed(base, "#000000", 0.25)))
        seen[loop] += 1
    return [*found, (mixed(INK, PAPER, 0.85), mixed(INK, PAPER, 0.4))]
