"""Processes beside this one, on the same machine: for work most of which is Python, which threads can only take in turns.

Each is started with this package alone, not with the caller's script, so that no script needs a guard for it.
"""

from __future__ import annotations

import os
import subprocess
import sys


def started(module: str) -> subprocess.Popen[bytes]:
    """A process that runs a module of this package, and is talked to through pipes."""
    paths = os.pathsep.join(path for path in sys.path if path)
    limits = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # the processes share the processors
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | limits | {"PYTHONPATH": paths},
    )


def why_it_ended(process: subprocess.Popen[bytes]) -> str:
    """The last line of its errors, or its exit code; empty if it ended well. Its pipes are closed."""
    assert process.stdout is not None and process.stderr is not None
    errors = process.stderr.read().decode(errors="replace").strip()
    for pipe in (process.stdout, process.stderr):
        pipe.close()
    if process.wait() == 0:
        return ""
    return errors.splitlines()[-1] if errors else f"exit code {process.returncode}"
