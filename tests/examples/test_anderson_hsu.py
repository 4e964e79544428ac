"""The script of Anderson & Hsu's paper in its short form: all forms agree, and it draws the figures."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.papers.sensitivities import by_matrices, recursive
from bellcrank.papers.sensitivities.chain import chain_of, slopes_of
from bellcrank.papers.sensitivities.counted import crossover, operations

SCRIPT = Path(__file__).parents[2] / "examples" / "papers" / "anderson_hsu.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("anderson_hsu", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main(short=True, out=tmp_path_factory.mktemp("figures"))


def test_all_forms_agree_with_a_complex_step(found):
    """Sums of section 3.1, recursions of Appendix A, and the fully recursive form: to rounding."""
    assert max(found["forms"].values()) < 1e-12


def test_the_histories_of_the_pendulum_agree(found):
    """With the traditional form to the tolerance of its integration, with differences to their truncation."""
    assert found["histories"]["traditional off by"].max() < 1e-6
    assert found["histories"]["differences off by"].max() < 1e-6


def test_differences_have_a_best_step_and_lose_digits_even_there(found):
    study = found["steps"]
    for name, (step, off) in study.best().items():
        assert 1e-8 < step < 1e-3 and 1e-13 < off < 1e-8, name
    assert "central" in str(study)


def test_figures_are_drawn(found):
    assert [file.stat().st_size > 1000 for file in found["files"]] == [True] * 7


def test_the_fully_recursive_form_grows_by_the_same_for_each_body_and_the_others_by_more():
    """The paper's figure 2: linear, and less than the traditional form from four or five bodies on."""
    counts = {form: [operations(form, n) for n in (2, 3, 4, 5)] for form in ("fully recursive", "traditional")}
    assert not np.diff(counts["fully recursive"], 2).any()
    assert (np.diff(counts["traditional"], 2) > 1000).all()
    assert 4 < crossover(counts["traditional"], counts["fully recursive"], (2, 3, 4, 5)) < 5
    assert crossover([1, 2], [3, 4], [1, 2]) is None


def test_the_forms_find_what_the_machine_finds():
    """By parameters that change mass, place, center and axis; slides too."""
    model = bc.load(
        """
format = 1
gravity = [0, 0, -9.81]
[bodies.cart]
mass = 2.0
center = [0.1, 0, 0.2]
inertia = [0.1, 0.2, 0.3]
[bodies.arm]
mass = 1.0
center = [0.3, 0.1, -0.5]
inertia = [0.1, 0.2, 0.3]
[joints.rail]
type = "prismatic"
parent = "ground"
child = "cart"
point = [0, 0, 0]
axis = "x"
[joints.hinge]
type = "revolute"
parent = "cart"
child = "arm"
point = [0.2, 0, 0]
axis = [0.1, 1, 0]
"""
    )
    design = bc.Design(model, ["arm.mass", "arm.center.x", "hinge.axis.x", "gravity.z", "cart.mass"])
    q, v = np.array([0.3, 0.7]), np.array([1.0, -2.0])
    dq, dv = np.random.default_rng(0).normal(size=(2, 2, 5))
    exact = bc.compile(model, design=design, optimisation=0).sensitivity(q, v, dq=dq, dv=dv)
    chain, slopes = chain_of(model), slopes_of(design)
    for form in (by_matrices.sensitivities, recursive.sensitivities):
        a, da = form(chain, slopes, q, v, dq, dv, tau=np.zeros(2))
        np.testing.assert_allclose(a, exact.a, rtol=1e-11)
        np.testing.assert_allclose(da, exact.da, rtol=0, atol=1e-11 * np.abs(exact.da).max())


def test_what_is_no_chain_is_refused():
    with pytest.raises(StateError, match="is not a chain of revolute and prismatic joints"):
        chain_of(bc.load("four_bar"))
