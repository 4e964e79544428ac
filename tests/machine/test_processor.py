"""BELLCRANK_CPU: the processor that machine code is made for."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from bellcrank.dynamics import Dynamics
from bellcrank.errors import StateError
from bellcrank.kernels import jit, processor
from bellcrank.machine import kernel
from bellcrank.model.generators import pin_joint_chain, random_state


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))
    monkeypatch.setattr(kernel, "_loaded", {})  # what other tests have compiled in this process
    return tmp_path


def accelerations():
    model = pin_joint_chain(3)
    (q, v), dynamics = random_state(model, 1), Dynamics(model)
    return np.vstack([dynamics.acceleration(np.tile(q, (5, 1)), np.tile(v, (5, 1))), dynamics.acceleration(q, v)])


def test_code_for_any_processor_says_the_same_and_is_kept_apart(folder, monkeypatch):
    """One state and lanes; a processor without fused multiply-add rounds once more in each product and sum."""
    found, entries = [], []
    for name in ("host", "generic"):
        monkeypatch.setenv("BELLCRANK_CPU", name)
        found.append(accelerations())
        entries.append(len(list(folder.rglob("*.bellcrank"))))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
    assert entries == [2, 4]


def test_the_host_is_the_default(monkeypatch):
    monkeypatch.delenv("BELLCRANK_CPU", raising=False)
    default = jit.identity()
    monkeypatch.setenv("BELLCRANK_CPU", "host")
    assert jit.identity() == default
    monkeypatch.setenv("BELLCRANK_CPU", "generic")
    assert jit.identity() != default


def test_a_named_processor_goes_without_what_this_one_lacks(monkeypatch):
    monkeypatch.setattr(processor.llvm, "get_host_cpu_features", lambda: {"one": True, "two": False})
    monkeypatch.setattr(processor, "_must_be_known", lambda name: None)
    assert processor._processor("another") == ("another", "-two")


def test_an_unknown_processor_is_refused_with_those_that_it_may_be(monkeypatch):
    monkeypatch.setenv("BELLCRANK_CPU", "hasswell")
    listing = "Available CPUs\n\n  haswell   - Select the haswell processor.\n  zen   - Select the zen processor.\n"
    monkeypatch.setattr(processor, "_tried", lambda *name: subprocess.CompletedProcess([], 0, "", listing))
    with pytest.raises(StateError, match=r"BELLCRANK_CPU is 'hasswell': .* Use \"host\" .*\"generic\".*such as haswell\.$"):
        accelerations()


def test_llvm_itself_is_asked_for_its_processors(monkeypatch):
    """Whatever the architecture, it knows "generic", and no "crankshaft"."""
    assert "Select the generic processor" in processor._tried().stderr
    monkeypatch.setenv("BELLCRANK_CPU", "crankshaft")
    with pytest.raises(StateError, match="LLVM has no such processor"):
        jit.machine()


def test_a_processor_for_which_llvm_ends_the_process_is_refused(monkeypatch):
    """As an old one of 32 bits is."""
    listing = "  old   - Select the old processor.\n"
    monkeypatch.setattr(processor, "_tried", lambda *name: subprocess.CompletedProcess([], -6 if name else 0, "", listing))
    monkeypatch.setenv("BELLCRANK_CPU", "old")
    with pytest.raises(StateError, match="'old': that processor does not run code for"):
        jit.machine()
