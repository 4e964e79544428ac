"""Every evaluation of an optimisation, in memory and in a file of one line each, from which it can be taken up again.

An optimiser that begins at the same place asks for the same designs. Those that the file has are not run again, so that the
search arrives where it was interrupted, and goes on from there.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StudyError
from ...writing import refuse_to_wait, replace
from .problem import Point, Problem

Array = NDArray[np.float64]


@dataclass
class Record:
    """Points in the order in which they were evaluated."""

    points: list[Point] = field(default_factory=list)
    known: dict[bytes, Point] = field(default_factory=dict)
    file: IO[str] | None = None

    @classmethod
    def at(cls, path: str | Path | None, problem: Problem, *, resume: bool) -> Record:
        """Kept in a file, unless path is None; with ``resume`` what the file has is known."""
        record = cls()
        if path is None:
            return record
        target, head = Path(path), {"bellcrank_study": 1, "of": problem.identity, "names": list(problem.names)}
        try:
            refuse_to_wait(target)
            lines = target.read_text(encoding="utf-8").splitlines() if resume and target.exists() else []
            if lines:
                whole = record._take_up(lines, head, target, problem)
                if whole < len(lines):  # what follows must not be written behind half a line
                    replace(target, lambda file: file.write("".join(f"{line}\n" for line in lines[:whole]).encode()))
            record.file = target.open("a" if lines else "w", encoding="utf-8")
        except StudyError:
            raise
        except UnicodeDecodeError:
            raise StudyError(f"{target} is not a record of a search. Name another file, or do not resume.") from None
        except (OSError, ValueError) as error:  # a name with a zero byte
            raise StudyError(f"{target} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
        if not lines:
            record._write(head)
        return record

    def _take_up(self, lines: list[str], head: dict[str, Any], target: Path, problem: Problem) -> int:
        """How many lines are good: the last one may be of a run that was ended in the midst of it."""
        try:
            first = json.loads(lines[0])
        except ValueError:
            first = None
        if first != head:
            raise StudyError(f"{target} is the record of another study, or model. Name another file, or do not resume.")
        for k, line in enumerate(lines[1:], start=1):
            try:
                point = as_point(json.loads(line))
            except (ValueError, TypeError, KeyError):
                return k
            if not _is_of(problem, point):
                return k
            self.known[point.x.tobytes()] = point
        return len(lines)

    def find(self, x: Array) -> Point | None:
        """A point that is known from before; it counts as evaluated."""
        point = self.known.get(x.tobytes())
        if point is not None:
            self.points.append(point)
        return point

    def add(self, point: Point) -> None:
        self.points.append(point)
        if self.file is not None:
            self._write(as_json(point))

    def _write(self, value: dict[str, Any]) -> None:
        assert self.file is not None
        try:
            self.file.write(json.dumps(value) + "\n")
            self.file.flush()
        except OSError as error:
            raise StudyError(f"{self.file.name} cannot be written: {error.strerror}.") from error

    def close(self) -> None:
        if self.file is not None:
            with suppress(OSError):  # of a full disk, which was reported before
                self.file.close()
            self.file = None


def _is_of(problem: Problem, point: Point) -> bool:
    """Whether a point has all numbers that an evaluation of the problem gives, and they are finite."""
    count, limits = len(problem.names), len(problem.limits)
    shapes: dict[str, tuple[int, ...]] = {"x": (count,)}
    if point.reason is None:
        shapes |= {"gradient": (count,), "limits": (limits,), "slopes": (limits, count)}
        if problem.study.fit is not None:
            shapes |= {"jacobian": (len(point.residuals), count)}
    numbers = [getattr(point, name) for name in (*shapes, "residuals")] + ([] if point.reason else [np.array(point.cost)])
    return all(getattr(point, name).shape == shape for name, shape in shapes.items()) and all(
        np.isfinite(x).all() for x in numbers
    )


def as_json(point: Point) -> dict[str, Any]:
    if point.reason is not None:
        return {"x": point.x.tolist(), "reason": point.reason}
    found = {f.name: getattr(point, f.name) for f in fields(point)}
    return {name: x.tolist() if isinstance(x, np.ndarray) else x for name, x in found.items() if x is not None and np.size(x)}


def as_point(value: dict[str, Any]) -> Point:
    x = np.array(value["x"], dtype=np.float64)
    given: dict[str, Any] = {}
    for name in ("gradient", "limits", "slopes", "residuals", "jacobian"):
        if name in value:
            given[name] = np.array(value[name], dtype=np.float64)
    if "slopes" not in given:
        given["slopes"] = np.zeros((0, len(x)))
    cost = float(value.get("cost", np.inf))
    return Point(x, cost, reason=value.get("reason"), **given)
