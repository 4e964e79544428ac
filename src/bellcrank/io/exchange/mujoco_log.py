"""MuJoCo without its log: by itself it writes warnings into a file MUJOCO_LOG.TXT in the working directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_log(mujoco: Any) -> Iterator[None]:
    """Warnings of MuJoCo go nowhere: what they say is in its data, or in the error that it raises."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
