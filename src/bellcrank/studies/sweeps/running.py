"""sweep: many runs over the parameters of a study, written to a store as they come."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import SimulationError, StateError, StudyError, warn
from ...extremes import in_our_errors
from ...model import Model
from ...model.parameters.overshoot import overshooting
from ...run.checks.jumps import jumping
from ...wording import counted
from ..study import Study, load_study
from ..study.spec import RunOptions, Sweep
from ..study.variations import Bounds, Listed, Variation
from .checks import check_sweep
from .points import MOST, is_whole, points_of
from .result import SweepResult
from .sharing.cluster import chunks_on_cluster
from .sharing.here import chunks_here
from .store import Store, machine_here
from .task import GROUP, Task

CHUNK, SENT, LARGEST = 8192, 512, 65536  # runs, unless given: the least here and on a cluster, and the most
CHUNKS = 64  # of a long sweep: so often there is progress


@dataclass(frozen=True)
class Progress:
    """Of a sweep: runs that are finished, of how many, how many a second, and how long the others will take."""

    done: int
    count: int
    rate: float
    seconds_left: float


@in_our_errors(StudyError)
def sweep(
    study: Study | Model | str | PathLike[str],
    parameters: Mapping[str, Variation | Sequence[float]] | None = None,
    outputs: Sequence[str] | Mapping[str, str] = (),
    duration: float | None = None,
    *,
    design: str | None = None,
    runs: int | None = None,
    seed: int | None = None,
    store: str | PathLike[str] | None = None,
    chunk: int | None = None,
    trajectories: bool = False,
    scheduler: Any = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> SweepResult:
    """Many runs over parameters and initial states, in lanes of machine code on all processors, or on a cluster.

    study         a study (its file, or as load_study reads it), or a model with what follows
    parameters    path -> (least, largest), a list of values, or a distribution
    outputs       as for sensitivity: "tip.x@end", "max(abs(hub.az))", "rms(...)", "tip.x" for a curve, "lift_off.time"; a
                  list, or by names of your own
    duration      and further ``options`` of a run: step, method, rtol, atol, max_step, formulation, inputs
    design        "grid" of lists, "list", "random", "latin_hypercube", "sobol", or "saltelli" for Sobol' indices; with
                  ``runs`` and ``seed``. Unless given, a grid of lists, or Sobol's sequence of anything else
    store         a folder for the results (Zarr); an existing store is continued. Temporary unless given
    chunk         runs that are written together, and lost together if the process is killed; a multiple of 64
    trajectories  keep coordinates and velocities at all samples besides
    scheduler     address of a Dask scheduler ("tcp://...:8786") or a Client: chunks run on its workers
    progress      is called with a Progress after every chunk

    A run that fails is a row with its reason. Numbers are the same, bit for bit on one type of processor, whatever the number
    of threads, workers, chunks or restarts. Interrupted, there is a SimulationError; what is finished is in the store.
    """
    if progress is not None and not callable(progress):
        raise StateError(f"progress is {progress!r}: give a function that takes a Progress")
    made = _study(study, parameters, outputs, duration, options)
    task = task_of(made, design, runs, seed, trajectories)
    size, folder = _chunk(chunk, task, CHUNK if scheduler is None else SENT), _folder(store)
    kept = Store.make(folder, task, size, machine_here())
    result = SweepResult(folder, task)
    for text in (*overshooting(task.model), *jumping(task.model, 0.0, task.span[0])):
        warn(text)
    try:
        _run(task, kept, scheduler, progress)
    except KeyboardInterrupt:
        done = int((kept.finished()).sum()) * kept.chunk
        raise SimulationError(
            f"study {made.name!r}: interrupted when {min(done, task.count)} of {task.count} runs were finished. They are in "
            f"{folder}: sweep into the same folder again to compute the others",
            None,
        ) from None
    return result


def _run(task: Task, kept: Store, scheduler: Any, progress: Callable[[Progress], None] | None) -> None:
    missing = list(kept.missing())
    sizes = {k: kept.bounds(k)[1] - kept.bounds(k)[0] for k in missing}
    done = before = task.count - sum(sizes.values())
    began = time.perf_counter()
    if not missing:
        return
    chunks = chunks_here(task, kept, missing) if scheduler is None else chunks_on_cluster(task, kept, missing, scheduler)
    notes: list[str] = []
    with closing(chunks):
        for chunk in chunks:
            kept.put(chunk)
            notes += chunk.notes
            done += sizes[chunk.k]
            if progress is not None:
                rate = (done - before) / max(time.perf_counter() - began, 1e-9)
                progress(Progress(done, task.count, rate, (task.count - done) / rate))
    if notes:
        warn(f"{counted(len(notes), 'run')} of the sweep gave warnings (all are in its notes): {notes[0]}")


def _folder(store: Any) -> Path:
    if store is None:
        return Path(tempfile.mkdtemp(prefix="bellcrank-sweep-")) / "sweep.zarr"
    if not isinstance(store, str | PathLike) or "\0" in str(store) or not str(store):
        raise StateError(f"store is {store!r}: give the path of a folder")
    return Path(store)


def _chunk(chunk: int | None, task: Task, least: int) -> int:
    if chunk is not None and (not is_whole(chunk) or not GROUP <= chunk <= MOST or chunk % GROUP):
        raise StateError(f"chunk is {chunk!r}: give a multiple of {GROUP} runs, at most {MOST:,}")
    if chunk is not None:
        return int(chunk)
    if not task.in_lanes:  # runs one at a time take long: not many are to be lost together
        return GROUP
    numbers = sum(int(np.prod([len(task.times) if d == "time" else 16 for d in dims])) for dims, _, _ in task.shapes().values())
    fitting = GROUP * max(1, 2**24 // (8 * GROUP * max(1, numbers)))  # 16 MB of results
    return min(max(least, GROUP * -(-task.count // (GROUP * CHUNKS))), LARGEST, fitting)


def _study(
    study: Study | Model | str | PathLike[str],
    parameters: Mapping[str, Variation | Sequence[float]] | None,
    outputs: Sequence[str] | Mapping[str, str],
    duration: float | None,
    options: dict[str, Any],
) -> Study:
    if not isinstance(study, Model):
        if parameters is not None or outputs:
            raise StateError("a study has its own parameters and outputs: give a model with these, or the study alone")
        if not isinstance(study, Study | str | PathLike):
            raise StateError(
                f"a sweep takes a study, its file, or a model; it is given an object of type {type(study).__name__}"
            )
        made = study if isinstance(study, Study) else load_study(study)
        return replace(
            made, duration=duration or made.duration, run=replace(made.run, **_known(options)) if options else made.run
        )
    if isinstance(outputs, str):
        raise StateError(f"outputs must be a list of names; it is {outputs!r}")
    named = dict(outputs) if isinstance(outputs, Mapping) else {text: text for text in outputs}
    for text in (*named, *named.values()):
        if not isinstance(text, str):
            raise StateError(f"outputs are named by text, such as 'energy.total@end'; one is {text!r}")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise StateError(f"parameters go by name, {{'upper.mass': (10.0, 20.0)}}; they are {parameters!r}")
    varied = {path: _variation(path, x) for path, x in (parameters or {}).items()}
    return Study(study, varied, name=study.name, duration=duration, run=RunOptions(**_known(options)), outputs=named)


def _known(options: dict[str, Any]) -> dict[str, Any]:
    unknown = [name for name in options if name not in RunOptions.__dataclass_fields__]
    if unknown:
        raise StateError(
            f"a sweep has no option {unknown[0]!r}; those of its runs are {', '.join(RunOptions.__dataclass_fields__)}"
        )
    return options


def _variation(path: Any, given: Variation | Sequence[float]) -> Variation:
    """A pair of numbers in a tuple is least and largest; other lists are values."""
    if not isinstance(path, str):
        raise StateError(f"parameters are named by text, such as 'upper.mass'; one is {path!r}")
    if isinstance(given, Variation):
        return given
    if isinstance(given, tuple) and len(given) == 2 and all(map(_is_number, given)):
        return Bounds(float(given[0]), float(given[1]))
    if isinstance(given, list | range | np.ndarray) and all(map(_is_number, given)):
        return Listed(tuple(float(x) for x in given))
    raise StateError(
        f'{given!r} does not describe a parameter, "{path}": give (least, largest), a list of values, or a distribution'
    )


def _is_number(x: Any) -> bool:
    return isinstance(x, Real) and not isinstance(x, bool | np.bool_)


def task_of(study: Any, design: str | None, runs: int | None, seed: int | None, trajectories: bool) -> Task:
    """What a sweep of a study computes."""
    study = study if isinstance(study, Study) else load_study(study)
    model = study.load_model()
    if not all(case.analysis == "run" for case in study.cases):
        raise StudyError("a sweep is of runs, and this study has cases of other analyses: leave their analysis out")
    asked = study.sweep or Sweep()
    listed = all(hasattr(x, "values") for x in study.parameters.values())
    kind = design or asked.design or ("grid" if listed else "sobol")
    check_sweep(study, model, trajectories)
    own = [float(model.parameters.get(path, np.nan)) for path in study.parameters]
    wanted = asked.runs if runs is None else runs
    points = points_of(kind, study.parameters, own, wanted, asked.seed if seed is None else seed)
    task = Task(replace(study, model=model.name), model, points, trajectories)
    if not task.outputs and not trajectories:
        raise StudyError("the sweep has no outputs: name what is taken of a run, or keep trajectories")
    return task
