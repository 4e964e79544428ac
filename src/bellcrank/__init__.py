"""Bellcrank: the dynamics of mechanisms, in machine code made from plain Python.

    import bellcrank as bc

    model = bc.load("models/double_pendulum.toml")
    run = bc.simulate(model, duration=10.0)
    run.save("run.nc")

Heavy packages are loaded when they are first needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    AssemblyError,
    BellcrankError,
    BellcrankWarning,
    DynamicsError,
    MissingExtraError,
    ModelError,
    SimulationError,
    StateError,
    StiffnessWarning,
)

if TYPE_CHECKING:
    from .analyses import drive, equilibrium, inverse_motion, linearize, modes
    from .assembly import Assembly, assemble
    from .codegen import Dynamics, compile
    from .codegen.operations import count_operations, count_table
    from .codegen.paper_table import paper_table
    from .comparison import compare, compare_methods
    from .inspection import check
    from .io import gallery, load, save, schema
    from .model import Mechanism, Model
    from .results import Run, load_run
    from .timeloop import Event, simulate, simulate_many

__version__ = "0.1.0"

_HOME = {
    "Assembly": ".assembly",
    "assemble": ".assembly",
    "schema": ".io",
    "save": ".io",
    "Mechanism": ".model",
    "Dynamics": ".codegen",
    "Event": ".timeloop",
    "Model": ".model",
    "Run": ".results",
    "check": ".inspection",
    "compare": ".comparison",
    "compare_methods": ".comparison",
    "compile": ".codegen",
    "count_operations": ".codegen.operations",
    "count_table": ".codegen.operations",
    "drive": ".analyses",
    "equilibrium": ".analyses",
    "gallery": ".io",
    "inverse_motion": ".analyses",
    "linearize": ".analyses",
    "modes": ".analyses",
    "load": ".io",
    "paper_table": ".codegen.paper_table",
    "load_run": ".results",
    "simulate": ".timeloop",
    "simulate_many": ".timeloop",
}

__all__ = [
    "Assembly",
    "AssemblyError",
    "BellcrankError",
    "BellcrankWarning",
    "Dynamics",
    "DynamicsError",
    "Event",
    "Mechanism",
    "MissingExtraError",
    "Model",
    "ModelError",
    "Run",
    "SimulationError",
    "StateError",
    "StiffnessWarning",
    "__version__",
    "assemble",
    "check",
    "compare",
    "compare_methods",
    "compile",
    "count_operations",
    "count_table",
    "drive",
    "equilibrium",
    "gallery",
    "inverse_motion",
    "linearize",
    "load",
    "load_run",
    "modes",
    "paper_table",
    "save",
    "schema",
    "simulate",
    "simulate_many",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
