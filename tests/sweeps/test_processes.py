"""Runs that take most of their time in Python are shared by processes; the numbers are those of one thread."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

import bellcrank as bc
from bellcrank.studies.study import Study
from bellcrank.studies.study.spec import RunOptions
from bellcrank.studies.study.variations import Bounds
from bellcrank.studies.sweeps.runners import OneByOne
from bellcrank.studies.sweeps.running import task_of
from bellcrank.studies.sweeps.sharing import team
from bellcrank.studies.sweeps.sharing.process import Ended, Process
from bellcrank.studies.sweeps.sharing.team import Team
from tests.sweeps.test_sweeps import OUTPUTS, PARAMETERS, same, swept

ALONE = {"runs": 40, "method": "gauss4", "max_step": 0.025}


@pytest.fixture(scope="module")
def pendulum():
    return bc.load("double_pendulum")


@pytest.fixture
def asked(monkeypatch):
    """Two threads, whose processes are started after the first piece, and waited for; the pieces that processes were given."""
    pieces, run, start = [], Process.run, Team._start_processes

    def noted(process, first, last, designs):
        pieces.append((process, first))
        return run(process, first, last, designs)

    def waited(whole):
        start(whole)
        whole._starters.shutdown(wait=True)

    monkeypatch.setenv("BELLCRANK_THREADS", "2")
    monkeypatch.setattr(OneByOne, "worth_processes", -1.0)
    monkeypatch.setattr(Process, "run", noted)
    monkeypatch.setattr(Team, "_start_processes", waited)
    return pieces


def alone(pendulum, monkeypatch):
    with monkeypatch.context() as there:
        there.setattr(OneByOne, "worth_processes", 1e9)
        return swept(pendulum, **ALONE)


def test_processes_compute_the_same_numbers(pendulum, asked, monkeypatch):
    shared, pieces = swept(pendulum, **ALONE), len(asked)
    assert pieces > 5 and len({process for process, _ in asked}) == 2
    same(shared, alone(pendulum, monkeypatch))
    assert len(asked) == pieces, "one thread asks no process"
    for process, _ in asked:
        assert process._process.returncode is not None, "processes end with their sweep"


def test_a_process_that_is_killed_loses_no_run(pendulum, asked, monkeypatch):
    run, killed = Process.run, []

    def dying(process, first, last, designs):
        if not killed:
            killed.append(process)
            process._process.kill()
        return run(process, first, last, designs)

    monkeypatch.setattr(Process, "run", dying)
    with pytest.warns(bc.BellcrankWarning, match=r"a process of the sweep ended \(exit code -9\): a thread went on"):
        shared = swept(pendulum, **ALONE)
    assert (shared.status == 0).all()
    same(shared, alone(pendulum, monkeypatch))


def test_a_sweep_that_cannot_be_sent_goes_on_in_one_process(pendulum, asked, monkeypatch):
    def refused(task):
        raise pickle.PicklingError("it holds a lock")

    monkeypatch.setattr(team, "pickle", SimpleNamespace(dumps=refused))
    with pytest.warns(bc.BellcrankWarning, match="cannot be sent to another one: it holds a lock"):
        shared = swept(pendulum, **ALONE)
    assert (shared.status == 0).all() and not asked


def test_processes_that_cannot_read_the_sweep_are_reported_once(pendulum, asked, monkeypatch):
    """As where a class is known to the caller's script alone."""
    monkeypatch.setattr(team, "pickle", SimpleNamespace(dumps=lambda task: b"cnowhere\nNothing\n."))
    with pytest.warns(bc.BellcrankWarning) as warned:
        shared = swept(pendulum, **ALONE)
    (message,) = [str(w.message) for w in warned if "process" in str(w.message)]
    assert message.startswith("a process of the sweep did not start (ModuleNotFoundError: No module named 'nowhere')")
    assert (shared.status == 0).all() and not asked


def test_a_process_ends_with_the_one_that_it_works_for(pendulum):
    """Whatever ends that one, its end of the pipe is closed, perhaps in the middle of a question."""
    spread = {path: Bounds(*ends) for path, ends in PARAMETERS.items()}
    study = Study(pendulum, spread, name="s", duration=0.2, outputs=OUTPUTS, run=RunOptions(step=0.05, method="gauss4"))
    process = Process()
    process.prepare(pickle.dumps(task_of(study, None, 8, 1, False)))
    process._process.stdin.write(pickle.dumps((0, 1, None))[:-5])
    process._process.stdin.close()
    assert process._process.wait(30) == 0
    with pytest.raises(Ended):
        process.run(0, 1, None)
    process.close()
