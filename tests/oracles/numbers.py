"""Reference numbers of published problems, each with its origin.

They were computed outside this project, by two independent methods each, with the errors given; times in seconds, SI.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def oracle(name: str) -> Any:
    """The numbers of a problem, the name of a file here; "origin" in each says where they are from."""
    return json.loads((Path(__file__).parent / f"{name}.json").read_text())
