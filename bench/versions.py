"""Two versions of Bellcrank in one benchmark run, interleaved.

    python bench/versions.py OLD_SRC NEW_SRC [--repetitions 3] [--seconds 1] [--only WORD ...] [--json FILE]

OLD_SRC and NEW_SRC are folders to put on PYTHONPATH. Each version runs in a process of its own (bench/version_worker.py), one
at a time: windows of some 30 ms of processor time alternate, and the quickest of all counts. Rows: accelerations at one state
and of batches in lanes, momenta, derivatives, runs, many runs, reading and planning; then starts from nothing, each
in a new process without a cache. A repetition is all of it with new workers. Marked rows are more than 5 % slower in every
repetition. A row whose results differ by more than 1e-9 of the largest says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from version_worker import COLD, rows

WORKER = Path(__file__).with_name("version_worker.py")
SLOWER = 1.05
ROUNDS = 6  # at least so many pairs of windows
NO_ROW = math.nan


def environment(source: Path, cache: str) -> dict[str, str]:
    """numpy's threads wait busily, and their waiting would count."""
    return os.environ | {"PYTHONPATH": str(source), "BELLCRANK_CACHE": cache, "OPENBLAS_NUM_THREADS": "1"}


class Worker:
    """A version in a process, waiting for commands."""

    def __init__(self, source: Path, cache: str):
        self.process = subprocess.Popen(
            [sys.executable, WORKER],
            env=environment(source, cache),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def race(workers: list[Worker], row: str, seconds: float) -> tuple[list[float], str]:
    """s of a call of each version, and a remark."""
    answers = [worker.ask(prepare=row) for worker in workers]
    problems = [answer["problem"] for answer in answers if "problem" in answer]
    if problems:
        return [NO_ROW, NO_ROW], problems[0]
    best, end, turn = [math.inf, math.inf], time.perf_counter() + seconds, 0
    while turn < ROUNDS or time.perf_counter() < end:
        for k in (0, 1) if turn % 2 else (1, 0):
            best[k] = min(best[k], workers[k].ask(window=True)["seconds"])
        turn += 1
    return best, difference(*(answer["numbers"] for answer in answers))


def difference(old: list[float], new: list[float]) -> str:
    """What to say of the results of the two."""
    if len(old) != len(new):
        return "results differ in shape"
    scale = max(map(abs, old), default=0.0) or 1.0
    found = float(np.nanmax(np.abs(np.subtract(old, new)), initial=0.0)) / scale
    return f"results differ by {found:.1e}" if found > 1e-9 else ""


def starts(sources: list[Path], start: str, turns: int) -> tuple[list[float], str]:
    """s of a start of each version, the quickest of some."""
    best = [math.inf, math.inf]
    for turn in range(turns):
        for k in (0, 1) if turn % 2 else (1, 0):
            command = [sys.executable, str(WORKER), "cold", start]
            done = subprocess.run(command, env=environment(sources[k], "off"), capture_output=True, text=True, check=False)
            if done.returncode:
                return [NO_ROW, NO_ROW], done.stderr.strip().splitlines()[-1]
            best[k] = min(best[k], json.loads(done.stdout)["seconds"])
    return best, ""


def repetition(sources: list[Path], caches: list[str], seconds: float, only: list[str], turns: int) -> dict[str, Any]:
    """Times of both versions and a remark, by row."""
    workers = [Worker(source, cache) for source, cache in zip(sources, caches, strict=True)]
    chosen = {row: group for row, (group, _) in rows().items() if _wanted(row, group, only)}
    found = {row: (group, *race(workers, row, seconds)) for row, group in chosen.items()}
    for worker in workers:
        worker.end()
    for start in COLD:
        name = f"{start}, cold"
        if _wanted(name, "starts", only):
            found[name] = ("starts", *starts(sources, start, turns))
    return found


def _wanted(row: str, group: str, only: list[str]) -> bool:
    return not only or group in only or any(word in row for word in only)


def figures_of(repetitions: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By row: the quickest of both versions over all repetitions, and the ratio in each."""
    figures = {}
    for row, (group, _, remark) in repetitions[0].items():
        pairs = [each[row][1] for each in repetitions]
        old, new = (min(pair[k] for pair in pairs) for k in (0, 1))
        ratios = [b / a for a, b in pairs]
        slower = all(ratio > SLOWER for ratio in ratios)
        figures[row] = {"group": group, "old": old, "new": new, "ratios": ratios, "slower": slower, "remark": remark}
    return figures


def show(figures: dict[str, dict[str, Any]]) -> None:
    table = Table(title="New against old, processor time of a call; above 1 the new one is slower", title_justify="left")
    for heading in ("row", "old", "new", "ratio", "in each repetition", ""):
        table.add_column(heading, justify="left" if heading in ("row", "") else "right")
    for row, f in figures.items():
        said = ["SLOWER"] * f["slower"] + [f["remark"]] * bool(f["remark"])
        ratios = " ".join(f"{ratio:.3f}" for ratio in f["ratios"])
        table.add_row(row, shown(f["old"]), shown(f["new"]), f"{f['new'] / f['old']:.3f}", ratios, ", ".join(said))
    Console(width=160).print(table)


def means(figures: dict[str, dict[str, Any]]) -> None:
    """Geometric means of the ratios by group, and the rows that are slower."""
    for group in [*dict.fromkeys(f["group"] for f in figures.values()), "all"]:
        chosen = [f["new"] / f["old"] for f in figures.values() if group in ("all", f["group"]) and math.isfinite(f["new"])]
        if chosen:
            mean = math.exp(sum(map(math.log, chosen)) / len(chosen))
            print(f"{group}: geometric mean {mean:.4f} of {len(chosen)} rows, {min(chosen):.3f} to {max(chosen):.3f}")
    slower = [row for row, figure in figures.items() if figure["slower"]]
    print(f"more than {SLOWER - 1:.0%} slower in every repetition: {', '.join(slower) or 'none'}", flush=True)


def shown(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e6:.4g} us"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of windows of a row, in a repetition")
    parser.add_argument("--starts", type=int, default=3, help="new processes for each start and version, in a repetition")
    parser.add_argument("--only", nargs="*", default=[], help="groups (evaluations, runs, planning, starts) or words of rows")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    sources = [path.resolve() for path in (options.old, options.new)]
    for source in sources:
        if not (source / "bellcrank").is_dir():
            parser.error(f"{source} has no folder bellcrank: give what goes on PYTHONPATH, such as src")
    found = []
    with tempfile.TemporaryDirectory() as old_cache, tempfile.TemporaryDirectory() as new_cache:
        for k in range(options.repetitions):
            began = time.perf_counter()
            found.append(repetition(sources, [old_cache, new_cache], options.seconds, options.only, options.starts))
            print(f"repetition {k + 1} of {options.repetitions}: {time.perf_counter() - began:.0f} s", flush=True)
            if k + 1 < options.repetitions:
                means(figures_of(found))
    figures = figures_of(found)
    show(figures)
    means(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
