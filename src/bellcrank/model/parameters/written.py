"""A model as the user wrote it, and the numbers that were changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..spec.fields import Replacing
from ..spec.spec import Spec


@dataclass(frozen=True)
class Written:
    """A spec, other numbers for some of its paths, and what models that differ in numbers only share (changing)."""

    base: Spec
    changes: Mapping[str, float] = field(default_factory=dict)
    shared: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def spec(self) -> Spec:
        from .parameters import replaced  # which builds on what makes models

        return replaced(self.base, Replacing(dict(self.changes))) if self.changes else self.base

    def __getstate__(self) -> dict[str, Any]:
        return {"base": self.base, "changes": dict(self.changes), "shared": {}}
