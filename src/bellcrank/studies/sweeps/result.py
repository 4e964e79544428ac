"""What a sweep found: a labelled dataset, statistics, influences, and single runs again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError, StudyError, warn
from ...extremes import is_finite_number
from ...run import simulate
from ...wording import argument
from .points import is_whole
from .statistics import Indices, saltelli_indices, statistics_of
from .store import FORMAT, Store, in_store, parameter_name, stored_name, text_of
from .task import Task

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from ...model import Model
    from ...results import Run

Array = NDArray[np.float64]


class SweepResult:
    """A sweep in its store.

    path       the folder
    dataset    all of it as an xarray.Dataset, read when it is used: parameters and outputs over ``run``, and which ``case`` a
               run is of if there are several
    status     0 where a run succeeded, -1 where it is not finished yet; ``reasons`` explains the others, and ``notes`` has the
               warnings of those that succeeded
    """

    def __init__(self, path: Path, task: Task | None = None):
        self.path, self.task = path, task

    @cached_property
    def store(self) -> Store:
        return Store.open(self.path)

    @property
    def attributes(self) -> dict[str, Any]:
        """What the store says of the sweep: study, design, outputs, machines."""
        return self.store.attributes

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.attributes["parameters"])

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.attributes["outputs"])

    @cached_property
    def _stored(self) -> dict[str, str]:
        """Names of arrays by those of parameters and outputs."""
        return {x: parameter_name(x) for x in self.parameters} | {x: stored_name(x) for x in self.outputs}

    def __len__(self) -> int:
        return self.store.count

    def __repr__(self) -> str:
        done = int(self.store.finished().sum())
        return f"SweepResult({str(self.path)!r}, {len(self)} runs, {done} of {self.store.chunks} chunks finished)"

    @property
    def complete(self) -> bool:
        return bool(self.store.finished().all())

    @property
    def dataset(self) -> xr.Dataset:
        import xarray as xr

        with in_store(self.store.path):
            found = xr.open_zarr(self.path, consolidated=False, chunks=None, decode_times=False, zarr_format=FORMAT)
        named = {stored: name for name, stored in self._stored.items() if stored != name}
        found = found.rename(named).set_coords([*self.parameters, "status"]).drop_vars("reason")
        others = sorted(set(found.data_vars) - set(self.outputs), key=str)  # the folder lists its arrays in any order
        found = found[[*self.outputs, *others]]
        if len(self._cases) > 1 and "case" not in found:
            found = found.assign_coords(case=("run", np.resize(self._cases, len(self))))
        return found

    @property
    def status(self) -> NDArray[np.int8]:
        return self.store.read("status")

    @property
    def reasons(self) -> dict[int, str]:
        """Why runs did not succeed, by the number of the run."""
        status = self.status
        return {k: text for k, text in self._texts() if status[k] != 0}

    @property
    def notes(self) -> dict[int, str]:
        """Warnings of runs that succeeded, such as an energy balance that does not close, by the number of the run."""
        status = self.status
        return {k: text for k, text in self._texts() if status[k] == 0}

    def _texts(self) -> Iterator[tuple[int, str]]:
        for first, last in map(self.store.bounds, range(self.store.chunks)):
            rows = self.store.read("reason", first, last)
            for k in np.flatnonzero(rows[:, 0]).tolist():
                yield first + k, text_of(rows[k])

    def values(self, name: str) -> Array:
        """A parameter or an output as an array, (runs,) or (runs, times)."""
        return self.store.read(self._known(name, "q", "v", "reached"))

    def _known(self, name: str, *others: str) -> str:
        """The name of its array."""
        known = self._stored
        if name not in known and (name not in others or name not in self.store.group):
            raise StateError(f"the sweep has no {name!r}; it has {', '.join(known)}")
        return known.get(name, name)

    def unit(self, name: str) -> str:
        """Of a parameter or an output; "" where it is not known."""
        return str(self.store.group[self._known(name)].attrs.get("units", ""))

    # --- what is asked of it

    def statistics(self, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> xr.Dataset:
        """Of each output that is a number: mean, standard deviation, smallest, largest, quantiles, over runs that succeeded."""
        wrong = [x for x in quantiles if not is_finite_number(x) or not 0 <= x <= 1]
        if wrong:
            raise StateError(f"quantiles are numbers from 0 to 1; one is {wrong[0]!r}")
        return statistics_of({name: self.values(name) for name in self._numbers}, quantiles)

    @property
    def _numbers(self) -> list[str]:
        return [name for name in self.outputs if self.store.array(self._stored[name]).ndim == 1]

    def as_dict(self) -> dict[str, Any]:
        """Numbers of runs and statistics of outputs, for JSON: None where there is none."""
        table, status = self.statistics(), self.status
        rows = {
            str(name): {x: _plain(table[x].sel(output=name).item()) for x in ("count", "mean", "std", "min", "max")}
            for name in table.output.values
        }
        counts = {"runs": len(self), "arrived": int((status == 0).sum()), "failed": int((status > 0).sum())}
        return {"store": str(self.path), **counts, "outputs": rows}

    def summary(self) -> str:
        """Statistics of all outputs as a table of text."""
        found = self.as_dict()
        wide = max([6, *map(len, found["outputs"])])
        lines = [f"{found['store']}: {found['runs']} runs, {found['failed']} of them failed"]
        if unfinished := found["runs"] - found["arrived"] - found["failed"]:
            lines[0] += f", and {unfinished} are not finished: sweep into the same folder to compute them"
        lines += [f"  run {k}: {reason}" for k, reason in list(self.reasons.items())[:3]]
        lines.append(f"{'output':<{wide}} {'mean':>12} {'std':>12} {'min':>12} {'max':>12}")
        for name, row in found["outputs"].items():
            numbers = (float("nan") if row[x] is None else row[x] for x in ("mean", "std", "min", "max"))
            lines.append(f"{name:<{wide}} " + " ".join(f"{x:12.6g}" for x in numbers))
        return "\n".join(lines)

    def sobol_indices(self, output: str, *, case: str | None = None, resamples: int = 200) -> Indices:
        """First-order and total indices of each parameter, of a sweep with design="saltelli".

        case       of a study with several cases: the one whose runs are meant
        resamples  how often designs are drawn again for the 95 % intervals (the bootstrap); 0 for none

        Designs of which a run failed are left out, with a warning. An output that is the same in all runs has no indices: they
        are not numbers, with a warning.
        """
        if self.attributes["design"] != "saltelli":
            raise StudyError(
                f"Sobol' indices need {argument('design', 'saltelli')}; this sweep's is {self.attributes['design']!r}"
            )
        if not is_whole(resamples) or resamples < 0:
            raise StudyError(f"resamples is {resamples!r}: give a whole number, such as 200, or 0 for no intervals")
        f = self._number(output).reshape(-1, len(self._cases))[:, self._case(case)]
        found = saltelli_indices(f, self.parameters, int(self.attributes["seed"]), int(resamples))
        if found.left_out:
            many = f"{found.left_out} of {found.designs + found.left_out} designs have runs without a number"
            warn(f"Sobol' indices of {output!r}: {many}; the indices are those of the other {found.designs}")
        if np.isnan(found.total).all():
            warn(f"Sobol' indices of {output!r} are not numbers: it is {f[np.isfinite(f)][0]:g} in all runs")
        return found

    @property
    def _cases(self) -> list[str]:
        return list(self.attributes.get("cases", [""]))

    def _case(self, name: str | None) -> int:
        """Its number."""
        known = self._cases
        if name is None and len(known) == 1:
            return 0
        if name not in known:
            asked = "name one: case=" if name is None else f"there is no case {name!r}: case="
            raise StateError(f"the sweep has {len(known)} cases; {asked}{' or '.join(map(repr, known))}")
        return known.index(name)

    def _number(self, output: str) -> Array:
        x = self.values(output)
        if x.ndim != 1:
            raise StateError(f"{output!r} is a curve: name an output that is a number")
        return x

    def worst(self, output: str, count: int = 5, *, smallest: bool = False) -> xr.Dataset:
        """The runs with the largest values of an output, the worst first, or with the smallest; none that failed."""
        x = self._number(output)
        if not is_whole(count) or count < 1:
            raise StateError(f"count is {count!r}: say how many runs, 1 or more")
        count = min(int(count), int(np.isfinite(x).sum()))  # those without a number are neither the worst nor the best
        order = np.argsort(np.where(np.isfinite(x), x if smallest else -x, np.inf), kind="stable")[:count]
        with in_store(self.path):
            return self.dataset.isel(run=order).assign_coords(run=("run", order)).load()

    def model(self, run: int) -> Model:
        """The model of a run's design."""
        task, case = self._task(run)
        changes = dict(zip(task.parameters, task.designs(int(run), int(run) + 1)[0].tolist(), strict=True))
        return task.model.with_parameters({**changes, **task.study.cases[case].set})

    def run(self, run: int) -> Run:
        """Repeat one run by itself, for example to look at it: ``result.run(k).view()``."""
        task, case = self._task(run)
        return simulate(self.model(run), task.span[0], step=task.span[1], events=task.events, **task.options(case))

    def _task(self, run: int) -> tuple[Task, int]:
        if self.task is None:
            raise StateError("runs can be run again where the study is known: load_sweep(path, study)")
        if not is_whole(run) or not 0 <= run < len(self):
            raise StateError(f"there is no run {run!r}: the sweep has {len(self)}, counted from 0")
        return self.task, int(self.task.case_numbers(int(run), int(run) + 1)[0])

    def plot(
        self, path: str | PathLike[str] | None = None, *, kind: str = "scatter", outputs: Sequence[str] = (), keep: bool = False
    ) -> Figure:
        """Outputs over parameters ("scatter"), or each run as a line through all of them ("parallel")."""
        from ..reporting.sweeps import plot_sweep

        names = [*self.parameters, *(outputs or self._numbers)]
        units = {name: self.unit(name) for name in names}
        titled = {f"{name} ({unit})" if unit else name: self.values(name) for name, unit in units.items()}
        return plot_sweep(titled, len(self.parameters), kind, path, keep)


def _plain(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def load_sweep(path: str | PathLike[str], study: Any = None) -> SweepResult:
    """A sweep in its folder, finished or not. ``study``: the study or its file, so that runs can be run again."""
    result = SweepResult(Path(path))
    assert result.store.count >= 0
    if study is None:
        return result
    from .running import task_of

    attributes = result.attributes
    kept = "q" in result.store.group and "q" not in result.outputs
    with in_store(result.path):
        task = task_of(study, attributes["design"], attributes["points"], attributes["seed"], kept)
    if task.fingerprint != attributes["fingerprint"]:
        raise StudyError(f"{path} is the sweep of another study: its model, parameters, outputs or options differ")
    result.task = task
    return result
