"""The LLVM text that models are compiled from, and whether two versions of the source write the same.

    PYTHONPATH=TREE/src python bench/kernel_text.py FILE [--only WORD ...]
    python bench/kernel_text.py OLD_FILE NEW_FILE

The first writes a digest of each function that some two dozen models are compiled from: for accelerations at one state and in
lanes, in each formulation, derivatives, short runs and runs of a design. Names of values and labels do not count. The second
lists the functions whose digests differ, or that only one of the two has.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

GALLERY = (
    *("double_pendulum", "heavy_top", "humanoid", "quarter_car", "rheonomic_pendulum", "crane", "every_joint", "four_bar"),
    *("slider_crank", "five_bar", "parallelogram", "squeezer", "bricard", "stewart", "excavator", "strandbeest"),
)
DEFINED = re.compile(r"^define .*?@([\w.]+)\(.*?^}$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"%[\w.]+|^[\w.]+:", re.MULTILINE)


def models() -> dict[str, Callable[[], Any]]:
    import bellcrank as bc
    from bellcrank.model import generators

    made: dict[str, Callable[[], Any]] = {name: (lambda n=name: bc.load(n)) for name in GALLERY}
    made |= {"chain of spherical joints": lambda: generators.chain(7, kind="spherical")}
    made |= {"random tree": lambda: generators.random_tree(12, seed=1)}
    made |= {"four-bars": lambda: generators.n_four_bar(3), "ladder": lambda: generators.ladder(4)}
    return made | {"spatial ladder": lambda: generators.spatial_ladder(3), "lattice": lambda: generators.lattice(8, 8)}


def tasks(model: Any) -> dict[str, Callable[[], object]]:
    """What makes the code, by name."""
    import bellcrank as bc

    q, v = model.initial_q, model.initial_v
    ways = ("coordinate_reduction", "multipliers") if model.closures else ("articulated_body", "reference_point")
    asked: dict[str, Callable[[], object]] = {}
    for name in (*ways, "canonical_momenta"):
        asked[name] = lambda n=name: bc.compile(model, n).acceleration(q, v)
    asked["in lanes"] = lambda: bc.compile(model).acceleration(q[None].repeat(8, 0), v[None].repeat(8, 0))
    asked["derivatives"] = lambda: bc.compile(model).jacobians(q, v)
    for method in ("dopri5", "rk4", "radau"):
        asked[f"run by {method}"] = lambda m=method: bc.simulate(model, 1e-4, step=1e-4, method=m)
    asked["runs in lanes"] = lambda: bc.simulate_many(model, 1e-4, q=[q] * 4, v=[v] * 4, step=1e-4)
    return asked


def digests(only: list[str]) -> dict[str, str]:
    os.environ["BELLCRANK_CACHE"], os.environ["BELLCRANK_OPTIMISATION"] = "off", "0"
    from bellcrank import errors
    from bellcrank.kernels import jit

    compiled, texts = jit.compile_text, list[str]()
    jit.compile_text = lambda text, level=3: texts.append(text) or compiled(text, level)  # type: ignore[func-returns-value]
    found: dict[str, str] = {}
    for model_name, make in models().items():
        if only and not any(word in model_name for word in only):
            continue
        model = make()
        for task, run in tasks(model).items():
            texts.clear()
            try:
                run()
            except errors.BellcrankError as problem:
                found[f"{model_name}, {task}"] = str(problem)
            for text in texts:
                for function in DEFINED.finditer(text):
                    key = f"{model_name}, {task}, {function[1]}"
                    found[key] = hashlib.sha256((found.get(key, "") + _renamed(function[0])).encode()).hexdigest()
        print(f"{model_name}: {len(found)}", flush=True)
    return found


def _renamed(text: str) -> str:
    """With names in the order in which they appear."""
    names: dict[str, str] = {}
    return NAME.sub(lambda found: names.setdefault(found[0].strip("%:"), f"%{len(names)}"), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="parts of models' names")
    given = parser.parse_args()
    if len(given.files) == 1:
        warnings.simplefilter("ignore")
        given.files[0].write_text(json.dumps(digests(given.only), indent=1))
        return
    old, new = (json.loads(path.read_text()) for path in given.files)
    other = [key for key in sorted(old | new) if old.get(key) != new.get(key)]
    print(*other, f"{len(old | new)} functions, {len(other)} differ", sep="\n")


if __name__ == "__main__":
    main()
