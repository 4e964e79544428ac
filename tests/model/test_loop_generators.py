"""Generated linkages: bars of 1 m and 1 kg whose loops close, move, and have as many degrees of freedom as they say."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.model.generators import ladder, lattice, n_four_bar, spatial_ladder

ALL = [n_four_bar, ladder, spatial_ladder]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("N", [1, 3])
def test_every_bar_has_one_metre_and_one_kilogram(make, N):
    model = make(N)
    np.testing.assert_allclose(np.linalg.norm(model.center, axis=1), 0.5, atol=1e-15)
    assert (model.mass == 1).all()
    for inertia in model.inertia:  # across the bar m L^2/12
        np.testing.assert_allclose(np.linalg.eigvalsh(inertia), [1e-3, 1 / 12, 1 / 12], atol=1e-15)


@pytest.mark.parametrize("make", ALL)
def test_cells_are_equal_and_share_their_code(make):
    """The first, the last, and all others."""
    assert len(bc.compile(make(60)).plan.nodes.signatures) == 3


@pytest.mark.parametrize("make", ALL)
def test_the_loops_close_in_the_design_position(make):
    model = make(4)
    position, _ = bc.compile(model).closure(model.initial_q, model.initial_v)
    assert np.abs(position).max() < 1e-14


@pytest.mark.parametrize(("make", "rank", "dof"), [(n_four_bar, 8, 1), (ladder, 8, 4), (spatial_ladder, 12, 4)])
def test_four_loops_leave_one_or_four_degrees_of_freedom(make, rank, dof):
    model = make(4)
    G = bc.compile(model).closure_jacobian(model.initial_q)
    assert np.linalg.matrix_rank(G, tol=1e-9) == rank and model.nv - rank == dof


def test_a_lattice_closes_and_moves_row_by_row():
    model = lattice(3, 2)
    dynamics = bc.compile(model)
    position, _ = dynamics.closure(model.initial_q, model.initial_v)
    G = dynamics.closure_jacobian(model.initial_q)
    assert np.abs(position).max() < 1e-14 and model.nv - np.linalg.matrix_rank(G, tol=1e-9) == 3
    with pytest.raises(ModelError, match="N is 0"):
        lattice(2, 0)


def test_the_equations_of_the_spatial_ladder_are_independent():
    model = spatial_ladder(5)
    G = bc.compile(model).closure_jacobian(model.initial_q)
    assert len(G) == 15 and np.linalg.svd(G, compute_uv=False)[-1] > 0.1


def test_cranks_of_n_four_bars_turn_as_one():
    model = n_four_bar(3)
    signs = np.array([1, -1, 1, -1, 1, -1, 1])
    position, velocity = bc.compile(model).closure(0.4 * signs, 0.7 * signs)
    assert np.abs(position).max() < 1e-14 and np.abs(velocity).max() < 1e-14


def test_the_rungs_of_a_ladder_stay_parallel():
    model = ladder(3)
    q, v = (np.kron(x, [1, -1, 1]) for x in ([0.4, -0.3, 0.2], [1.0, 2.0, -0.5]))
    position, velocity = bc.compile(model).closure(q, v)
    assert np.abs(position).max() < 1e-14 and np.abs(velocity).max() < 1e-14


@pytest.mark.parametrize("make", ALL)
def test_fewer_than_one_loop_is_refused(make):
    with pytest.raises(ModelError, match="N is 0: give the number of loops"):
        make(0)
