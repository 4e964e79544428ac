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
    AccuracyWarning,
    AssemblyError,
    BellcrankError,
    BellcrankWarning,
    DynamicsError,
    MissingExtraError,
    ModelError,
    SimulationError,
    StateError,
    StiffnessWarning,
    StudyError,
)

if TYPE_CHECKING:
    from .analyses import drive, equilibrium, frequency_response, inverse_motion, linearize, modes, road_spectrum
    from .assembly import Assembly, assemble
    from .comparison import compare, compare_methods
    from .design import Design
    from .dynamics import Dynamics, compile
    from .inspection import check
    from .inspection.installation import info
    from .io import gallery, load, save, schema
    from .model import Function, Mechanism, Model
    from .papers.operations import count_operations, count_table
    from .papers.paper_table import paper_table
    from .results import Run, load_run
    from .run import Event, simulate, simulate_many
    from .studies import (
        Fitted,
        Optimum,
        Problem,
        Sensitivity,
        Study,
        SweepResult,
        check_gradients,
        finite_differences,
        fit,
        load_sensitivity,
        load_study,
        load_sweep,
        optimize,
        sensitivity,
        sweep,
    )

__version__ = "0.1.0"

_HOME = {
    "Assembly": ".assembly",
    "assemble": ".assembly",
    "schema": ".io",
    "save": ".io",
    "Function": ".model",
    "Mechanism": ".model",
    "Design": ".design",
    "Dynamics": ".dynamics",
    "Event": ".run",
    "Model": ".model",
    "Run": ".results",
    "check": ".inspection",
    "compare": ".comparison",
    "compare_methods": ".comparison",
    "compile": ".dynamics",
    "count_operations": ".papers.operations",
    "count_table": ".papers.operations",
    "drive": ".analyses",
    "equilibrium": ".analyses",
    "frequency_response": ".analyses",
    "road_spectrum": ".analyses",
    "gallery": ".io",
    "info": ".inspection.installation",
    "inverse_motion": ".analyses",
    "linearize": ".analyses",
    "modes": ".analyses",
    "load": ".io",
    "paper_table": ".papers.paper_table",
    "load_run": ".results",
    "simulate": ".run",
    "simulate_many": ".run",
    "Sensitivity": ".studies",
    "Study": ".studies",
    "SweepResult": ".studies",
    "Fitted": ".studies",
    "fit": ".studies",
    "Optimum": ".studies",
    "Problem": ".studies",
    "optimize": ".studies",
    "load_sensitivity": ".studies",
    "load_study": ".studies",
    "load_sweep": ".studies",
    "check_gradients": ".studies",
    "finite_differences": ".studies",
    "sensitivity": ".studies",
    "sweep": ".studies",
}

__all__ = [
    "AccuracyWarning",
    "Assembly",
    "AssemblyError",
    "BellcrankError",
    "BellcrankWarning",
    "Design",
    "Dynamics",
    "DynamicsError",
    "Event",
    "Fitted",
    "Function",
    "Mechanism",
    "MissingExtraError",
    "Model",
    "ModelError",
    "Optimum",
    "Problem",
    "Run",
    "Sensitivity",
    "SimulationError",
    "StateError",
    "StiffnessWarning",
    "Study",
    "StudyError",
    "SweepResult",
    "__version__",
    "assemble",
    "check",
    "check_gradients",
    "compare",
    "compare_methods",
    "compile",
    "count_operations",
    "count_table",
    "drive",
    "equilibrium",
    "finite_differences",
    "fit",
    "frequency_response",
    "gallery",
    "info",
    "inverse_motion",
    "linearize",
    "load",
    "load_run",
    "load_sensitivity",
    "load_study",
    "load_sweep",
    "modes",
    "optimize",
    "paper_table",
    "road_spectrum",
    "save",
    "schema",
    "sensitivity",
    "simulate",
    "simulate_many",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
