"""What the benchmark of closed loops found: tables, growth, the crossover of our formulations, and a plot of time over N."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from part import show

ONCE, LINEAR, ACCURATE = "LCABA, once", "LCABA", "LCABA, mu 1e-4"
PINOCCHIO = ("constraintDynamics", ONCE, LINEAR, ACCURATE)


def growth(times: dict[int, dict[str, float]], name: str) -> tuple[float, int] | None:
    """Exponent of N from 20 on, and the largest N that there is."""
    sizes = [N for N in times if N >= 20 and name in times[N]]
    if len(sizes) < 2:
        return None
    slope = np.polyfit(np.log(sizes), np.log([times[N][name] for N in sizes]), 1)[0]
    return float(slope), sizes[-1]


def crossover(times: dict[int, dict[str, float]], a: str, b: str) -> float | None:
    """N from which on b is quicker than a, between the sizes by straight lines on logarithmic axes; 1 if it always is."""
    sizes = [N for N in times if a in times[N] and b in times[N]]
    gap = [math.log(times[N][b] / times[N][a]) for N in sizes]
    for k in reversed(range(len(sizes))):
        if gap[k] > 0:
            if k == len(sizes) - 1:
                return None
            part = gap[k] / (gap[k] - gap[k + 1])
            return float(sizes[k] * (sizes[k + 1] / sizes[k]) ** part)
    return float(sizes[0]) if sizes else None


def ratios(times: dict[int, dict[str, float]]) -> list[dict[str, Any]]:
    """How many times quicker the best of ours is."""
    rivals, rows = ("constraintDynamics", ONCE, LINEAR, "MuJoCo"), []
    for N, found in times.items():
        own = {name: t for name, t in found.items() if name not in (*rivals, ACCURATE)}
        row: dict[str, Any] = {"N": str(N)}
        for title, chosen in (("one state", False), ("lanes", True)):
            best = min((t for name, t in own.items() if name.endswith(", lanes") == chosen), default=math.nan)
            row |= {f"{title} / {rival}": found[rival] / best if rival in found else "" for rival in rivals}
        rows.append(row)
    return rows


def table(values: dict[int, dict[str, float]]) -> list[dict[str, Any]]:
    names = list(dict.fromkeys(name for row in values.values() for name in row))
    return [{"N": str(N), **{name: row.get(name, "") for name in names}} for N, row in values.items()]


def report(family: str, found: dict[str, Any]) -> None:
    times = found["us"]
    show(f"{family}: microseconds per state (a call of Pinocchio, {found['call']:.2g} us, taken off)", table(times))
    show(f"{family}: our best against the peers", ratios(times))
    show(f"{family}: error of the largest acceleration", table(found["errors"]))
    show(f"{family}: seconds to compile, the cache as it was found", table(found["compile"]))
    lines = []
    for name in table(times)[0]:
        if slope := growth(times, name):
            lines.append({"contestant": name, "growth": slope[0], "from 20 to N =": str(slope[1])})
    if lines:
        show(f"{family}: exponent of N", lines)
    print(f"{family}: {crossing(times)}")


def crossing(times: dict[int, dict[str, float]]) -> str:
    names = {name for row in times.values() for name in row}
    if "coordinate_reduction" not in names or "multipliers" not in names:
        return "no crossover: multipliers and coordinate_reduction are not both here"
    at = crossover(times, "multipliers", "coordinate_reduction")
    return (
        "multipliers stay quicker" if at is None else f"coordinate_reduction is quicker than multipliers from N = {at:.2g} on"
    )


def plot(figures: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    across = min(2, len(figures))
    down = -(-len(figures) // across)
    size = (7.5 * across, 4.2 * down)
    fig, axes = plt.subplots(down, across, figsize=size, sharey=True, squeeze=False, layout="constrained")
    for ax in axes.flat[len(figures) :]:
        ax.set_visible(False)
    for ax, (family, found) in zip(axes.flat, figures.items(), strict=False):
        times = found["us"]
        names = list(dict.fromkeys(name for row in times.values() for name in row))
        for k, name in enumerate(names):
            points = [(N, row[name]) for N, row in times.items() if name in row]
            ax.loglog(*zip(*points, strict=True), marker="o", markersize=3, color=f"C{k % 10}", label=name)
        at = crossover(times, "multipliers", "coordinate_reduction")
        if at is not None:
            title = f"coordinate_reduction is quicker\nthan multipliers from N = {at:.2g} on"
            ax.axvline(at, color="0.6", linestyle=":", label=title)
        ax.set(title=family, xlabel="N by N loops" if family == "lattice" else "loops N", ylabel="time per state (µs)")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    fig.savefig(path, dpi=120)
