"""All of the benchmark: one table, ratios first, results.json and a picture.   make bench, make bench-quick

    python bench/everything.py [--quick] [--only PART ...]

Every part is a script of its own that runs alone, too. Peers that are not installed are named and left out (pip install
".[bench]" has them). Results of engines are compared before they are timed; contestants take turns, and the shortest of many
short windows counts. Afterwards `python bench/page.py` writes docs/speed.md and the table of README.md from results.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from part import PEERS, Part, Row, found, missing, show_rows

from bellcrank.kernels.processor import lane_count, processor

ROOT = Path(__file__).parents[1]
RESULTS, PICTURE = ROOT / "bench" / "results.json", ROOT / "docs" / "speed.png"
QUICK = ROOT / "bench" / "quick.json"  # not kept
PARTS = ("trees", "loops", "loop_run", "sensitivity", "sweeps", "roofline")
NEEDS = {"loops": ("pinocchio", "mujoco"), "loop_run": ("pinocchio", "mujoco")}


def machine() -> dict[str, Any]:
    """The processor by its own name and by LLVM's, its cores, and how busy they are."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        name = names[0] if names else name
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    found = {"processor": name, "llvm": processor().name, "lanes": lane_count(), "cores": os.cpu_count(), "load": load}
    return found | {"python": platform.python_version(), "system": platform.system()}


def versions() -> dict[str, str]:
    found = {}
    for package in ("bellcrank", *PEERS.values(), "numpy", "scipy", "llvmlite"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def measured(names: tuple[str, ...], quick: bool) -> list[Part]:
    parts = []
    for name in names:
        lacking = [module for module in NEEDS.get(name, ()) if not found(module)]
        if lacking:
            print(f"{name}: left out, it needs {', '.join(PEERS[module] for module in lacking)}", flush=True)
            continue
        began = time.perf_counter()
        parts.append(importlib.import_module(name).part(quick))
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return parts


def with_others(parts: list[Part], path: Path) -> list[Part]:
    """Parts that were measured before, where some are measured anew."""
    if not path.exists():
        return parts
    known = json.loads(path.read_text())["parts"]
    before = {part["name"]: Part(part["name"], [Row(**row) for row in part["rows"]], part["tables"]) for part in known}
    return list((before | {part.name: part for part in parts}).values())


def picture(parts: list[Part], path: Path) -> None:
    """Ratios as bars, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [row for part in parts if part.name != "roofline" for row in part.rows]
    fig, ax = plt.subplots(figsize=(9, 0.24 * len(rows) + 1), layout="constrained")
    places = range(len(rows))[::-1]
    ax.barh(list(places), [row.ratio for row in rows], color="#1f5fa8", height=0.7)
    ax.set_yticks(list(places), [f"{row.what}, beside {row.peer}" for row in rows], fontsize=7)
    ax.set_xscale("log")
    ax.axvline(1.0, color="0.4", linewidth=0.8)
    for place, row in zip(places, rows, strict=True):
        ratio = f"{row.ratio:,.0f}" if row.ratio >= 100 else f"{row.ratio:.3g}"
        ax.text(max(row.ratio, row.asked or 0.0) * 1.12, place, ratio, va="center", fontsize=6.5)
        if row.asked is not None:
            ax.plot(row.asked, place, marker="|", color="#c1272d", markersize=9)
    ax.set_xlim(right=3 * max(row.ratio for row in rows))
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,g}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("how many times as fast (a red mark is a target)")
    ax.margins(y=0.01)
    fig.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two minutes")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some of the parts")
    asked = parser.parse_args()
    parts = measured(tuple(asked.only), asked.quick)
    show_rows(*parts)
    for name in missing():
        print(f"{name} is not installed: left out")
    result = {"machine": machine(), "versions": versions(), "missing": missing(), "quick": asked.quick}
    path, drawn = (QUICK, QUICK.with_suffix(".png")) if asked.quick else (RESULTS, PICTURE)
    parts = with_others(parts, path) if len(asked.only) < len(PARTS) else parts
    path.write_text(json.dumps({**result, "parts": [part.as_dict() for part in parts]}, indent=1) + "\n")
    picture(parts, drawn)
    print(f"written: {path} and {drawn}")


if __name__ == "__main__":
    main()
