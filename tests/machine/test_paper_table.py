"""Operations on the papers' chain: the published rows add up, ours are lines in n."""

import pytest

import bellcrank as bc
from bellcrank.formulations import CANONICAL, FORMULATIONS
from bellcrank.model.generators import pin_joint_chain
from bellcrank.papers.operations import count_chain, count_program
from bellcrank.papers.paper_table import PUBLISHED, paper_table
from bellcrank.papers.reference_points import dense_savings


def test_totals_of_the_published_rows_are_those_of_the_paper():
    """Naudet, Lefeber & Terze, table 1; Rein's total, printed 411n-669, is the sum of its columns here."""
    totals = [row.count.total for row in PUBLISHED]
    assert totals == ["611n-238", "480n-566", "432n-688", "411n-564", "363n-475"]


def test_canonical_momenta_take_fewer_operations_than_every_published_row_and_than_accelerations():
    totals = {(row.algorithm, row.remark): row.count for row in paper_table()}
    ours = totals["canonical_momenta:joint", ""]
    assert (ours.additions, ours.multiplications, ours.total) == ("166n-261", "176n-254", "342n-515")
    assert totals["canonical_momenta:joint", "no gravity"].total == "311n-488"
    for row in PUBLISHED:
        assert ours.per_body.total < row.count.per_body.total
    assert ours.per_body.total < totals["articulated_body", ""].per_body.total
    # no shifts at the origin, but all inertias turned into the ground's axes
    assert totals["canonical_momenta:origin", ""].per_body.total > ours.per_body.total


@pytest.mark.parametrize("perpendicular", [False, True])
@pytest.mark.parametrize("n", [4, 20])
def test_the_line_goes_through_short_and_long_chains(n, perpendicular):
    """Right angles stay right angles along the chain, so that zeros are zeros everywhere."""

    def chain(n):
        return pin_joint_chain(n, perpendicular=perpendicular)

    line = count_chain(chain, "canonical_momenta:joint")
    count = count_program(chain(n), CANONICAL["canonical_momenta:joint"], "plane", True)
    assert count.total == n * line.per_body.total + line.offset.total


def test_canonical_momenta_are_counted_by_hamiltons_equations_everywhere():
    """Not by the accelerations that come from them, which take two more sweeps."""
    counted = bc.count_operations(pin_joint_chain(7))["canonical_momenta:joint"]
    assert counted.total == 342 * 7 - 515
    assert bc.count_table()["canonical_momenta:joint"].total == "342n-515"
    longer = count_program(pin_joint_chain(7), FORMULATIONS["canonical_momenta:joint"], "plane", True)
    assert counted.total < longer.total


@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 5), (3, 9), (6, 0)])
def test_the_origin_saves_what_kang_and_yoon_count(n, m):
    """36 + 6 n + 6 m multiplications a body, counted densely; 108 of a spherical joint with nine related constraints."""
    savings = dense_savings(n, m)
    assert sum(saving.multiplications for saving in savings) == 36 + 6 * n + 6 * m
    assert savings[1] == ("inertia, B1^T M B1", 48)
