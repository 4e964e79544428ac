"""Files of studies that cannot be read or written: an error that says so, at once."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.results.files.columns import read_column
from bellcrank.studies.fitting.curves import _from_file
from bellcrank.studies.optimisation.problem import Point
from bellcrank.studies.optimisation.record import Record

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")


@posix
def test_pipes_and_folders_are_no_data_no_record_and_no_sweep(tmp_path):
    """Opening a pipe waits for its other end, for ever."""
    pipe, text = tmp_path / "pipe", tmp_path / "text"
    os.mkfifo(pipe)
    text.write_bytes(b"\xff")
    problem = SimpleNamespace(identity="of a study", names=())
    for read in (_from_file, lambda path: read_column(path, "x"), lambda path: Record.at(path, problem, resume=True)):
        with pytest.raises(bc.BellcrankError, match="it is not a regular file"):
            read(pipe)
    with pytest.raises(bc.StudyError, match="text is not a record of a search"):
        Record.at(text, problem, resume=True)
    for path in (text, pipe, tmp_path, "x" * 5000):
        with pytest.raises(bc.StudyError, match="there is no sweep"):
            bc.load_sweep(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_record_on_a_full_disk_ends_the_search_with_an_error_of_ours():
    record = Record(file=open("/dev/full", "w"))  # noqa: SIM115
    with pytest.raises(bc.StudyError, match="/dev/full cannot be written: No space left on device"):
        record.add(Point(np.zeros(1), 1.0))
    record.close()
