"""Operation counts of closed loops."""

import pytest

import bellcrank as bc
from bellcrank.formulations import CLOSED, FORMULATIONS
from bellcrank.model import generators


def test_closed_models_are_counted_in_the_closed_formulations_and_trees_in_the_others():
    assert set(bc.count_operations(generators.ladder(1))) == {*CLOSED, "canonical_momenta"}
    assert set(bc.count_operations(generators.chain(3))) == set(FORMULATIONS)


@pytest.mark.parametrize("name", [name for name in CLOSED if name.startswith("multipliers")])
def test_a_longer_ladder_takes_more_operations_and_lies_below_the_bound_of_its_size(name):
    """n bodies and m equations: O(n + n m^2 + m^3), so that twice the size takes less than eight times as much."""
    one, two = (bc.count_operations(generators.ladder(N))[name].total for N in (1, 2))
    assert 2 * one < two < 8 * one
