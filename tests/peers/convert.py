"""The converters to other engines live with the benchmarks, which are not installed: loaded by their place."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def _load(path: Path) -> ModuleType:
    spec = spec_from_file_location("bench_peers", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


peers = _load(Path(__file__).parents[2] / "bench" / "peers.py")
