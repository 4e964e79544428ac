"""One state: the compiled entry takes checked arrays or declines, and nothing of the user's is touched."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest

from bellcrank.dynamics import Dynamics
from bellcrank.errors import DynamicsError, StateError
from bellcrank.formulations import FORMULATIONS
from bellcrank.machine.in_python import run_plain
from bellcrank.machine.kernel import Kernel
from bellcrank.model.generators import chain, pin_joint_chain, random_state, random_tree
from bellcrank.plan import make_plan

FORMS = [
    ("auto", None),
    ("mass_matrix", None),
    ("reference_point", "centroid"),
    ("reference_point", "joint"),
    ("reference_point", "origin"),
]


@pytest.fixture(scope="module")
def hinges():
    """nq = nv = 5: q, v and tau may be the same array."""
    return Dynamics(chain(5))


@pytest.fixture(scope="module")
def tree():
    return Dynamics(random_tree(6, 4, ["revolute", "spherical", "prismatic"], free_root=True, armature=True))


@pytest.fixture
def state(hinges):
    q, v = random_state(hinges.model, 3)
    return q, v, np.random.default_rng(4).normal(size=5)


@pytest.mark.parametrize(("formulation", "reference"), FORMS)
def test_machine_code_gives_what_the_python_loop_gives(formulation, reference):
    """Both in double precision; accelerations are of order 100 and the mass matrix has a condition number near 1e3."""
    model = random_tree(6, 4, ["revolute", "spherical", "prismatic"], free_root=True, armature=True)
    dynamics = Dynamics(model, formulation, reference=reference)
    q, v = random_state(model, 2)
    tau = np.random.default_rng(5).normal(size=model.nv)
    (plain,) = run_plain(FORMULATIONS[dynamics.formulation], dynamics.plan, q=q, v=v, tau=tau).values()
    plain = np.array(plain, dtype=float)
    np.testing.assert_allclose(dynamics.acceleration(q, v, tau), plain, rtol=0, atol=1e-11 * np.abs(plain).max())


def spread(x):
    wide = np.zeros(2 * len(x))
    wide[::2] = x
    return wide[::2]


def unaligned(x):
    raw = np.zeros(8 * len(x) + 1, dtype=np.uint8)
    shifted = raw[1:].view(np.float64)
    shifted[:] = x
    return shifted


class Labelled(np.ndarray):
    """As pandas and xarray hand out: an array that is not exactly numpy's."""


WAYS = {
    "a list": list,
    "a tuple": tuple,
    "every second entry of another": spread,
    "backwards in memory": lambda x: x[::-1].copy()[::-1],
    "the other byte order": lambda x: x.astype(">f8"),
    "extended precision": lambda x: x.astype(np.longdouble),
    "not aligned": unaligned,
    "a subclass": lambda x: x.view(Labelled),
    "objects": lambda x: np.array([float(a) for a in x], dtype=object),
    "read-only": lambda x: np.frombuffer(x.tobytes()),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_arguments_may_come_in_any_way(way, hinges, state):
    expected = hinges.acceleration(*state)
    np.testing.assert_array_equal(hinges.acceleration(*[way(x) for x in state]), expected)
    for k in range(3):
        mixed = [way(x) if j == k else x for j, x in enumerate(state)]
        np.testing.assert_array_equal(hinges.acceleration(*mixed), expected)


def test_integers_and_single_precision_are_converted(hinges):
    whole = np.array([0, 1, -1, 2, 0])
    expected = hinges.acceleration(whole.astype(float), whole.astype(float))
    for kind in (int, np.int8, np.float32, np.float16):
        np.testing.assert_array_equal(hinges.acceleration(whole.astype(kind), whole.astype(kind)), expected)


def test_no_effort_is_zero_effort(hinges, state):
    q, v, _ = state
    np.testing.assert_array_equal(hinges.acceleration(q, v), hinges.acceleration(q, v, np.zeros(5)))
    np.testing.assert_array_equal(hinges.acceleration(list(q), v), hinges.acceleration(q, v, np.zeros(5)))


def test_the_same_array_may_be_given_twice(hinges, state):
    q, v, _ = state
    np.testing.assert_array_equal(hinges.acceleration(q, q, q), hinges.acceleration(q, q.copy(), q.copy()))
    both = np.concatenate([q, v])
    overlapping = both[:5], both[1:6], both[2:7]
    np.testing.assert_array_equal(hinges.acceleration(*overlapping), hinges.acceleration(*[x.copy() for x in overlapping]))


def test_arguments_are_not_changed_and_results_are_the_callers_own(hinges, state):
    before = [x.tobytes() for x in state]
    first = hinges.acceleration(*state)
    kept = first.copy()
    second = hinges.acceleration(state[0] * 0.5, *state[1:])
    np.testing.assert_array_equal(first, kept)
    assert [x.tobytes() for x in state] == before
    assert not any(np.shares_memory(a, b) for a, b in [(first, second), *[(first, x) for x in state]])
    assert not (first == second).any()


def test_the_compiled_entry_equals_the_careful_way(hinges, tree):
    for dynamics in (hinges, tree):
        q, v = random_state(dynamics.model, 8)
        out = np.empty(dynamics.model.nv)
        assert dynamics.direct(q, v, np.zeros(dynamics.model.nv), out) is True
        np.testing.assert_array_equal(out, dynamics.evaluate(dynamics.program, {"q": q, "v": v, "tau": None}))


def test_the_compiled_entry_declines_what_it_does_not_know(hinges, state):
    """False and no more: nothing is read outside, nothing raises; the careful way then says what is wrong."""
    q, v, tau = state
    out = np.empty(5)
    bad = [q[:4], np.zeros(6), q.reshape(1, 5), q.astype(np.float32), q.astype(">f8"), list(q), spread(q), unaligned(q)]
    bad += [None, 1.0, "12345", q.view(Labelled), np.array(1.0), np.zeros((0, 5)), object(), True, np.float64(1)]
    for wrong in bad:
        for k in range(4):
            arguments = [wrong if j == k else x for j, x in enumerate((q, v, tau, out))]
            assert hinges.direct(*arguments) is False
    assert hinges.direct() is False and hinges.direct(q, v, tau) is False and hinges.direct(q, v, tau, out, out) is False
    locked = np.empty(5)
    locked.setflags(write=False)
    assert hinges.direct(q, v, tau, locked) is False
    assert hinges.direct(q * np.nan, v, tau, out) is False and hinges.direct(q, v * np.inf, tau, out) is False
    assert hinges.direct(q, v, tau, out) is True


def test_the_compiled_entry_keeps_reference_counts(hinges, state):
    q, v, tau = state
    out = np.empty(5)
    counts = [sys.getrefcount(x) for x in (q, v, tau, out)]
    for _ in range(1000):
        hinges.direct(q, v, tau, out)
        hinges.direct(q, v, tau, None)
    assert [sys.getrefcount(x) for x in (q, v, tau, out)] == counts
    assert {True: 1, False: 0}[hinges.direct(q, v, tau, out)] == 1


def test_threads_may_share_a_compiled_model(hinges):
    states = [random_state(hinges.model, k) for k in range(4)]
    expected = [hinges.acceleration(q, v) for q, v in states]
    wrong = []

    def work(k):
        for _ in range(300):
            if (hinges.acceleration(*states[k]) != expected[k]).any():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda q, v: (q[:4], v), r"q has shape \(4,\); model 'chain of 5' needs \(5,\) or \(B, 5\): joint1, joint2"),
        (lambda q, v: (q, np.zeros(6)), r"v has shape \(6,\)"),
        (lambda q, v: (q, v, np.zeros(1)), r"tau has shape \(1,\)"),
        (lambda q, v: (1.0, v), r"q has shape \(\)"),
        (lambda q, v: (np.zeros((2, 2, 5)), v), r"q has shape \(2, 2, 5\)"),
        (lambda q, v: ("abcde", v), "q must be numbers"),
        (lambda q, v: (q, [1, 2, None, 4, "x"]), "v must be numbers"),
        (lambda q, v: (q, v + 1j), "v must be numbers"),
        (lambda q, v: (np.zeros((3, 5)), np.zeros((2, 5))), r"batches differ in length: q \(3, 5\), v \(2, 5\)"),
        (lambda q, v: (np.array([0, 0, np.nan, 0, 0]), v), "q of 'joint3' is nan: all of a state must be finite"),
        (lambda q, v: (q, np.array([0, -np.inf, 0, 0, 0])), "v of 'joint2' is -inf"),
        (lambda q, v: (q, v, np.array([np.inf, 0, 0, 0, 0])), "tau of 'joint1' is inf"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message, hinges, state):
    with pytest.raises(StateError, match=message):
        hinges.acceleration(*arguments(*state[:2]))


def test_a_quaternion_of_zero_names_its_joint(tree):
    q, v = random_state(tree.model, 1)
    q[3:7] = 0.0
    with pytest.raises(StateError, match="quaternion of joint 'joint1' is zero"):
        tree.acceleration(q, v)


def test_a_joint_that_moves_no_inertia_is_named():
    model = chain(3)
    light = replace(model, mass=np.array([1.0, 1.0, 0.0]), inertia=np.array([*model.inertia[:2], np.zeros((3, 3))]))
    with pytest.raises(DynamicsError, match="joint 'joint3' moves no inertia in one of its directions .body 'body3'."):
        Dynamics(light).acceleration(np.zeros(3), np.zeros(3))


def test_a_state_too_large_for_double_precision_says_so(hinges, state):
    with pytest.raises(DynamicsError, match="too large for double precision"):
        hinges.acceleration(state[0], np.full(5, 1e200))


def test_unknown_formulations_are_refused():
    for arguments, message in [
        (("articulated_bod",), "did you mean 'articulated_body'"),
        (("newton",), "there is no formulation 'newton': use one of auto, articulated_body"),
    ]:
        with pytest.raises(StateError, match=message):
            Dynamics(chain(2), *arguments)
    with pytest.raises(
        StateError, match="option of formulations 'reference_point', 'multipliers', 'canonical_momenta', not of 'auto'"
    ):
        Dynamics(chain(2), reference="joint")
    with pytest.raises(StateError, match='reference="tip" is unknown'):
        Dynamics(chain(2), "reference_point", reference="tip")


def test_a_direct_call_keeps_the_arrays_that_it_works_on():
    """Also when its kernel is asked for another one, or is gone: nothing else refers to them."""
    model = pin_joint_chain(3)
    q, v = random_state(model, 1)
    kernel = Kernel(make_plan(model), FORMULATIONS["articulated_body"], 1)
    first, expected, found = kernel.single(), np.empty(3), np.empty(3)
    assert first(q, v, np.zeros(3), expected)
    arrays = [weakref.ref(array) for array in first.__self__.arrays.values()]
    kernel.single()
    del kernel
    gc.collect()
    assert all(array() is not None for array in arrays)
    assert first(q, v, np.zeros(3), found) and np.array_equal(found, expected)
