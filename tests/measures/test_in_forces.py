"""Forces that read measures, in the same kernel: a spring and a damper by a formula are a spring and a damper."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import CANONICAL, FORMULATIONS, QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Element, Measure

from .. import closed
from ..closed_states import moving

LAW = "stiffness*(rest - {name}.q) - damping*{name}.v + 0*reach*time"
VALUES = (("stiffness", 7.0), ("rest", 0.3), ("damping", 0.4))


def twins(model, row):
    """The model with a spring and a damper on a joint, and with a formula in their place."""
    name = model.joint_names[row]
    plain = (
        Element("spring", "joint_spring", {"stiffness": 7.0, "rest": 0.3, "preload": 0.0}, joint=row),
        Element("damper", "joint_damper", {"damping": 0.4}, joint=row),
    )
    measures = (
        Measure("law", "expression", expression=LAW.format(name=name), values=VALUES),
        Measure("reach", "distance", body_a=row, point_a=(0.1, 0.2, 0.3), point_b=(5.0, 0.0, 0.0)),
    )
    reading = (Element("motor", "joint_effort", {"value": 1.0}, joint=row, arguments=("law",), live=("value",)),)
    return replace(model, elements=plain), replace(model, elements=reading, measures=measures)


def tree():
    model = closed.tree(5, 4)
    row = next(i for i, joint in enumerate(model.joints) if joint.kind in ("revolute", "prismatic"))
    return twins(model, row)


def loops():
    model = closed.random_closed(9, 3, ("spherical",))
    row = next(i for i, joint in enumerate(model.joints) if joint.kind in ("revolute", "prismatic"))
    return twins(model, row)


@pytest.mark.parametrize("formulation", ["articulated_body", "reference_point", "mass_matrix", "canonical_momenta"])
def test_in_every_formulation_of_trees(formulation):
    check(*tree(), formulation)


@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers", "canonical_momenta"])
def test_in_every_formulation_of_loops(formulation):
    check(*loops(), formulation)


def check(plain, reading, formulation):
    at = moving(plain, 3)
    given = {"q": at["q"], "v": at["v"], "tau": at["tau"], "t": at["t"]}
    expected, found = (bc.compile(model, formulation, optimisation=0) for model in (plain, reading))
    close(found.acceleration(**given), expected.acceleration(**given))
    if formulation in ("articulated_body", "multipliers"):
        for a, b in zip(found.jacobians(**given)[:2], expected.jacobians(**given)[:2], strict=True):
            close(a, b)
        power = found.elements(given["q"], given["v"], t=given["t"])[1].sum()
        row = reading.elements[0].joint
        rest = plain.q_index[row]
        by_spring = 7.0 * (0.3 - given["q"][rest]) * given["v"][plain.v_index[row]]
        assert power == pytest.approx(expected.elements(given["q"], given["v"])[1].sum() + by_spring)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))


def test_on_plain_numbers_too():
    plain, reading = tree()
    at = moving(plain, 3)
    programs = [FORMULATIONS["articulated_body"], CANONICAL["canonical_momenta:joint"]]
    for program in programs:
        speeds = {"v": at["v"]} if "v" in program.inputs else {"p": at["v"]}
        given = {"q": at["q"], "tau": at["tau"], **speeds}
        values = [run_plain(program, bc.compile(model).plan, **given, t=[at["t"]]) for model in (plain, reading)]
        for name in values[0]:
            close(np.array(values[1][name], float), np.array(values[0][name], float))
    assert "inverse_dynamics" in QUANTITIES


def test_a_force_that_reads_what_it_changes_is_refused():
    _, reading = tree()
    element = replace(reading.elements[0], arguments=(f"{reading.joint_names[0]}.fx",))
    with pytest.raises(bc.ModelError, match=r'element "motor": it reads .*, which forces and accelerations change'):
        replace(reading, elements=(element,))
    with pytest.raises(bc.ModelError, match=r'element "motor": it reads "lav" is not a measure; did you mean law\?'):
        replace(reading, elements=(replace(element, arguments=("lav",)),))


def test_a_run_with_such_a_force_balances_its_energy():
    plain, reading = tree()
    runs = [bc.simulate(model, 0.3, rtol=1e-10, atol=1e-10, step=0.1) for model in (plain, reading)]
    np.testing.assert_allclose(runs[1].q.values, runs[0].q.values, atol=1e-7)
    assert runs[1].energy_error < 1e-7
