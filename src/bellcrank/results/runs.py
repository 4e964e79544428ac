"""Many runs of one model, side by side: labelled arrays over (run, time, ...)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StateError

if TYPE_CHECKING:
    import xarray as xr

    from ..model import Model
    from .run import Run


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs that were made together. Samples that a run did not reach are not numbers.

    status   (B,) 0 arrived, 1 something was no longer finite, 2 the step collapsed, 3 a singular configuration was met, 5 the
             loops of the start cannot be closed
    reached  (B,) the time that each run reached
    messages (B,) what went wrong, or None
    """

    model: Model
    time: np.ndarray
    q_values: np.ndarray
    v_values: np.ndarray
    a_values: np.ndarray
    status: np.ndarray
    reached: np.ndarray
    messages: tuple[str | None, ...]
    settings: Mapping[str, Any]
    per_run: Sequence[Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.status)

    @cached_property
    def q(self) -> xr.DataArray:
        return self._labelled(self.q_values, "coordinate", self.model.q_names)

    @cached_property
    def v(self) -> xr.DataArray:
        return self._labelled(self.v_values, "dof", self.model.v_names)

    @cached_property
    def a(self) -> xr.DataArray:
        return self._labelled(self.a_values, "dof", self.model.v_names)

    def _labelled(self, values: np.ndarray, dim: str, names: tuple[str, ...]) -> xr.DataArray:
        import xarray as xr

        coords = {"run": np.arange(len(self)), "time": self.time, dim: list(names)}
        return xr.DataArray(values, dims=("run", "time", dim), coords=coords)

    def run(self, i: int) -> Run:
        """One of them as a Run, until where it came."""
        from .run import Run

        reached = np.isfinite(self.v_values[i]).all(axis=1) & np.isfinite(self.q_values[i]).all(axis=1)
        if not reached.any():
            raise StateError(f"run {i} has no samples: it {self.messages[i]}")
        q, v, a = (x[i][reached] for x in (self.q_values, self.v_values, self.a_values))
        settings = {**self.settings, **self.per_run[i]}
        return Run(self.model, self.time[reached], q, v, a, settings, self.messages[i])
