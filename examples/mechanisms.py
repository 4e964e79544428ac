"""Curves for the pages of the gallery's mechanisms.   python examples/mechanisms.py [--out FOLDER]

One picture for each page of docs/gallery: what the page says about the mechanism, over its travel, its angle or the time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import bellcrank as bc
from bellcrank.results.plots import PALETTE, tidy

OUT = Path(__file__).parents[1] / "docs" / "curves"
Curve = tuple[np.ndarray, np.ndarray, str, str, str]  # x, y, labels of both, and the name of the curve
G = 9.81


def wheel_rate(travel: np.ndarray, spring: np.ndarray) -> np.ndarray:
    """Vertical force at the wheel over its travel, from the energy of the spring: d2E/dz2."""
    return np.gradient(np.gradient(spring, travel), travel)


def double_wishbone(points: int) -> list[Curve]:
    moved = bc.drive(bc.load("double_wishbone"), "lower", np.linspace(-0.2, 0.2, points))
    travel, camber, toe, energy = along(moved, "travel", "camber", "toe", "coil.energy")
    mm = 1e3 * travel
    return [
        (mm, np.degrees(camber), "travel (mm)", "angle (deg)", "camber"),
        (mm, np.degrees(toe), "travel (mm)", "angle (deg)", "toe"),
        (mm[2:-2], 1e-3 * wheel_rate(travel, energy)[2:-2], "travel (mm)", "rate (N/mm)", "wheel rate"),
    ]


def engine(points: int) -> list[Curve]:
    loaded = bc.load("engine").with_parameters({"parameters.load": 0.16})  # which keeps it near 2100 rpm
    run = bc.simulate(loaded, 0.002 * points, step=2e-4)
    turns = run.q.values[:, 0] / (2 * np.pi)
    speed, bearing = run.measures.sel(measure="speed").values, run.measures.sel(measure="main_bearing").values
    return [
        (turns, speed, "turns of the crank", "speed (rpm)", "speed of the crankshaft"),
        (turns, 1e-3 * bearing, "turns of the crank", "load (kN)", "load of the main bearing"),
    ]


def scissor_lift(points: int) -> list[Curve]:
    model = bc.load("scissor_lift")
    moved = bc.drive(model, "base", np.linspace(0.1, -0.8, points))
    height, foot, energy = along(moved, "height", "base", "energy.potential")
    force = -np.gradient(energy, foot)  # by virtual work
    exact = 500 * G * (2.0 * np.cos(np.radians(25)) + foot) / height
    return [
        (height[1:-1], 1e-3 * force[1:-1], "height (m)", "force (kN)", "by virtual work"),
        (height, 1e-3 * exact, "height (m)", "force (kN)", "W / tan(angle of the arms)"),
    ]


def gearbox(points: int) -> list[Curve]:
    run = bc.simulate(bc.load("gearbox"), 0.02 * points)
    teeth = run.reactions.sel(joint="mesh").values
    wheel = run.reactions.sel(joint="wheel_shaft").values
    time = run.time.values
    return [
        (time, np.abs(teeth[:, 1]), "time (s)", "force (N)", "tooth force"),
        (time, np.linalg.norm(wheel[:, :3], axis=1), "time (s)", "force (N)", "bearing load"),
    ]


def slack_cable(points: int) -> list[Curve]:
    run = bc.simulate(bc.load("slack_cable"), 0.04 * points)
    place = run.positions.sel(body="ball").values
    return [
        (run.time.values, np.linalg.norm(place, axis=1), "time (s)", "distance (m)", "distance of the ball from the hook"),
        (run.time.values, run.measures.values[:, 0], "time (s)", "force (N)", "tension of the cable"),
    ]


def bump(points: int) -> list[Curve]:
    run = bc.simulate(bc.load("bump"), 0.02 * points)
    load, height = (run.measures.sel(measure=name).values for name in ("wheel_load", "height"))
    travelled = 8.0 * run.time.values
    return [
        (travelled, 1e-3 * load, "distance travelled (m)", "load (kN)", "load of the wheel"),
        (travelled, 1e3 * (height - 0.9), "distance travelled (m)", "height (mm)", "height of the body above its rest"),
    ]


def strandbeest(points: int) -> list[Curve]:
    run = bc.simulate(bc.load("strandbeest"), 2.0, step=2.0 / points)
    x, y = (run.measures.sel(measure=f"left.step.{axis}").values for axis in "xy")
    return [
        (100 * x, 100 * y, "x (cm)", "y (cm)", "path of the left foot"),
        (run.time.values, run.drives.values[:, 0], "time (s)", "torque (N m)", "torque of the crank"),
    ]


def hydraulic_boom(points: int) -> list[Curve]:
    run = bc.simulate(bc.load("hydraulic_boom"), 0.1 * points)
    time, (pressure, integral) = run.time.values, run.states.values.T
    return [
        (time, np.degrees(run.q.values[:, 0]), "time (s)", "angle (deg)", "angle of the boom"),
        (time, 1e-6 * pressure, "time (s)", "pressure (MPa)", "pressure of the oil"),
        (time, integral, "time (s)", "integral (rad s)", "integral of the controller's error"),
    ]


def stewart(points: int) -> list[Curve]:
    """Six legs, 0.9 m high, whose lengths are held while a load moves across."""
    turns = np.radians([turn + side for turn in (0, 120, 240) for side in (-1, 1)])
    sides = np.radians(np.tile([-1.0, 1.0], 3))
    feet, heads = (
        np.column_stack([r * np.cos(turns + sides * (half - 1)), r * np.sin(turns + sides * (half - 1)), np.full(6, z)])
        for r, half, z in ((1.0, 45.0, 0.0), (0.6, 20.0, 0.9))
    )
    m = bc.Mechanism("Stewart platform")
    m.cylinder("plate", (0, 0, 0.88), (0, 0, 0.92), radius=0.65, mass=100.0)
    m.joint("free", "free", "ground", "plate", point=(0, 0, 0.9))
    for k in range(6):
        ends = ("ground", feet[k]), ("plate", heads[k])
        m.measure_distance(f"leg{k}", *ends)
        m.measure_distance(f"speed{k}", *ends, rate=True)
        m.actuator(f"ram{k}", *ends, f"=5e5*(leg{k} - {np.linalg.norm(heads[k] - feet[k])}) + 1e4*speed{k}")
    m.force("man", "plate", (0, 0, 0.9), (0, 0, -785.0), moment=(0, "=785*(0.3*t - 0.6)", 0))
    run = bc.simulate(m.build(), 0.1 * points, step=0.02)
    forces, place = run.measure(*[f"ram{k}.force" for k in range(6)]).values, 0.3 * run.time.values - 0.6
    settled = place > -0.55
    pairs = ((0, "front legs"), (2, "middle legs"), (3, "rear legs"))
    return [(place[settled], -forces[settled, k], "position of the load (m)", "thrust (N)", name) for k, name in pairs]


def along(moved: bc.Drive, *names: str) -> list[np.ndarray]:
    """Measures of the positions of a drive, at rest."""
    values = bc.compile(moved.model, optimisation=0).measures(moved.q, 0 * moved.v, names=names)
    return list(values.T)


PAGES: dict[str, tuple[Callable[[int], list[Curve]], int]] = {
    "double_wishbone": (double_wishbone, 41),
    "engine": (engine, 100),
    "scissor_lift": (scissor_lift, 31),
    "stewart": (stewart, 40),
    "gearbox": (gearbox, 100),
    "slack_cable": (slack_cable, 100),
    "bump": (bump, 100),
    "strandbeest": (strandbeest, 200),
    "hydraulic_boom": (hydraulic_boom, 60),
}


def draw(curves: list[Curve]) -> Figure:
    """Curves of one label share a panel."""
    panels = list(dict.fromkeys((x_label, y_label) for _, _, x_label, y_label, _ in curves))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.2), layout="constrained", squeeze=False)
    for panel, (x_label, y_label) in zip(axes[0], panels, strict=True):
        here = [curve for curve in curves if curve[2:4] == (x_label, y_label)]
        for k, (x, y, _, _, name) in enumerate(here):
            panel.plot(x, y, color=PALETTE[k], ls="-" if k < 1 or len(here) > 2 else "--", label=name)
        panel.set(xlabel=x_label, ylabel=y_label)
        tidy(panel)
        if len(here) == 1:
            panel.set_title(here[0][4], fontsize=10)
        else:
            panel.legend(fontsize=8, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(here))
        if (x_label, y_label) == ("x (cm)", "y (cm)"):
            panel.set_aspect("equal")
    return figure


def write(folder: Path, short: bool = False) -> list[Path]:
    """All pictures; ``short``: with a tenth of the points."""
    written = []
    for name, (curves, points) in PAGES.items():
        figure = draw(curves(max(7, points // 10) if short else points))
        written.append(folder / f"{name}.png")
        figure.savefig(written[-1], dpi=110)
        plt.close(figure)
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    for path in write(parser.parse_args().out):
        print(path)
