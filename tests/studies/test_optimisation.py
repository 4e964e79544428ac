"""Optimisation with exact gradients: optima in closed form, designs that cannot be, records, interruption."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.machine.module import structure_key
from bellcrank.studies.optimisation.evaluation import CaseOutputs, Infeasible
from bellcrank.studies.optimisation.record import Record
from bellcrank.studies.optimisation.sharing import serve, taken_line
from tests.studies.carts import CART, cart

MASS = {"parameters.m": (0.5, 4.0)}
LENGTHS = ["parameters.crank_length", "parameters.coupler_length"]


@pytest.mark.parametrize("method", ["auto", "L-BFGS-B", "SLSQP", "trust-constr"])
def test_the_mass_that_a_force_moves_by_one_metre_in_one_second(method):
    """F t^2/(2 m) = 1 for m = 1.5 kg; the curvature of (x - 1)^2 there is 2 (dx/dm)^2 = 2/m^2."""
    best = bc.optimize(cart(), "=(x - 1)**2", MASS, outputs={"x": "rail.q@end"}, method=method, tolerance=1e-12)
    assert best.success
    assert best.x[0] == pytest.approx(1.5, rel=1e-5)
    assert best.cost < 1e-9
    assert best.model.parameters["parameters.m"] == best.x[0]
    assert "play" not in str(best)
    assert best.flatness.hessian[0, 0] == pytest.approx(2 / 1.5**2, rel=1e-3)
    assert best.active == []


def test_a_constraint_that_holds_has_the_multiplier_of_the_least_cost():
    """The lightest cart that is never beyond 1.2 m: m = F t^2/(2 limit), and d m/d limit = -m/limit."""
    given = {
        "subject_to": {"reach": {"of": "x", "max": 1.2}},
        "outputs": {"x": "rail.q@end", "weight": "mean(push.force/cart.ax)"},
    }
    best = bc.optimize(cart(), "weight", MASS, **given)
    assert best.success
    assert best.x[0] == pytest.approx(1.25, rel=1e-6)
    (active,) = best.active
    assert (active.name, active.side, active.limit) == ("reach", "max", 1.2)
    assert active.multiplier == pytest.approx(-1.25 / 1.2, rel=1e-4)
    assert best.constraint_values()["reach"] == pytest.approx(1.2, rel=1e-6)


def test_an_equation_and_two_parameters():
    """Least F^2 + m^2 with F t^2/(2 m) = 1: F = 2 m, so both are as small as their bounds allow."""
    over = {"parameters.m": (1.0, 4.0), "parameters.F": (1.0, 9.0)}
    given = {"outputs": {"x": "rail.q@end", "f": "push.force@end", "a": "cart.ax@end"}, "subject_to": {"x": 1.0}}
    best = bc.optimize(cart(), "=f**2 + (f/a)**2", over, **given)
    np.testing.assert_allclose(best.x, [1.0, 2.0], rtol=1e-6)
    assert {one.name for one in best.active} == {"parameters.m", "x"}


def test_load_cases_are_weighed_against_each_other():
    """sum w (F/(2 m) - 1)^2 is least where 1/m = 2 sum(w F)/sum(w F^2)."""
    cases = {"light": {"set": {"parameters.F": 2.0}}, "heavy": {"set": {"parameters.F": 4.0}, "weight": 3.0}}
    best = bc.optimize(cart(), "=(x - 1)**2", MASS, outputs={"x": "rail.q@end"}, cases=cases)
    assert best.x[0] == pytest.approx((4 + 3 * 16) / (2 * (2 + 3 * 4)), rel=1e-5)


def test_the_gradient_of_a_closed_loop_is_that_of_differences():
    """With assembly, constraints and two cases; central differences of 1e-5 are good for about 1e-8."""
    study = bc.optimize(
        "four_bar",
        "=a + 0.1*b",
        {name: (0.8 * x, 1.2 * x) for name, x in zip(LENGTHS, (0.5, 1.8), strict=True)},
        outputs={"a": "rms(crank_pivot.v)", "b": "energy.kinetic@end"},
        cases={"one": {}, "two": {"set": {"gravity.y": -5.0}, "weight": 0.5}},
        subject_to={"b": (None, 100.0)},
        duration=0.2,
        iterations=1,
    ).problem
    x, h = np.array([0.52, 1.75]), 1e-5
    _, gradient = study.cost_and_gradient(x)
    limits, slopes = study.constraints(x)
    assert limits.shape == (2,)
    for k, e in enumerate(np.eye(2)):
        ahead, behind = study.evaluate(x + h * e), study.evaluate(x - h * e)
        assert gradient[k] == pytest.approx((ahead.cost - behind.cost) / (2 * h), rel=1e-6)
        np.testing.assert_allclose(slopes[:, k], (ahead.limits - behind.limits) / (2 * h), rtol=1e-6)


def test_a_design_that_was_moved_is_the_design_of_the_other_model():
    """Nothing is planned anew, and values and derivatives are the same, but for rounding."""
    design = bc.Design(bc.load("four_bar"), LENGTHS)
    moved = design.moved([0.47, 1.9])
    asked = (["energy.kinetic@end", "coupler.x@end"], 0.2)
    one = bc.sensitivity(moved.base, moved, *asked)
    other = bc.sensitivity(design.model([0.47, 1.9]), LENGTHS, *asked)
    for name in asked[0]:
        assert one.value(name) == pytest.approx(other.value(name), rel=1e-11)
        np.testing.assert_allclose(one.d(name), other.d(name), rtol=1e-10)


def test_designs_that_share_machine_code_keep_their_own_numbers():
    """Asked in turns, and again; what decides on the machine code is the same for both."""
    design = bc.Design(bc.load("four_bar"), LENGTHS)
    designs = [design.moved([0.52, 1.75]), design.moved([0.47, 1.9])]
    dynamics = [bc.compile(one.base, design=one, optimisation=0) for one in designs]
    alone = bc.compile(design.base, design=design, optimisation=0)
    assert structure_key(dynamics[0].plan) == structure_key(dynamics[1].plan) == structure_key(alone.plan)
    assert dynamics[0].plan.made is dynamics[1].plan.made
    for _ in range(2):
        for one, dyn in zip(designs, dynamics, strict=True):
            q, v = one.base.initial_q, one.base.initial_v
            by_design = alone.sensitivity(q, v, p=one.start)
            np.testing.assert_allclose(dyn.acceleration(q, v), by_design.a, rtol=1e-12)
            np.testing.assert_allclose(dyn.sensitivity(q, v).da, by_design.da, rtol=1e-10, atol=1e-12)


def test_linkages_that_cannot_be_assembled_are_infeasible_with_their_reason():
    """A long rocker has more energy, but beyond 3.45 m it meets no coupler: the search goes on, and ends near there."""
    over = {"parameters.rocker_length": (0.2, 4.5, 1.2)}
    best = bc.optimize("four_bar", "=-e", over, outputs={"e": "energy.total@end"}, duration=0.02, iterations=15)
    assert 3.0 < best.x[0] < 3.46
    assert best.infeasible
    assert all("do not meet" in point.reason for point in best.infeasible)
    assert np.isfinite(best.cost)
    with pytest.raises(Infeasible, match="do not meet"):
        best.problem.cost_and_gradient([4.4])
    with pytest.raises(bc.StudyError, match="where the search starts is infeasible"):
        bc.optimize("four_bar", "rocker.wz@end", {"parameters.rocker_length": (4.0, 4.5, 4.4)}, duration=0.05)


def test_a_design_that_misses_the_event_of_an_output_is_infeasible():
    """x = F t^2/(2 m) = 0.5 at t = 0.9 s for m = 3 * 0.81; beyond m = 3 the cart does not arrive within the run."""
    given = {"outputs": {"t": "arrive.time"}, "events": [bc.Event("rail.q", value=0.5, name="arrive")]}
    best = bc.optimize(cart(), "=(t - 0.9)**2", MASS, **given)
    assert best.x[0] == pytest.approx(3 * 0.81, rel=1e-4)
    assert "'arrive' does not happen" in best.infeasible[0].reason


def test_a_search_is_taken_up_from_its_record(tmp_path, monkeypatch):
    """What the file has is not run again, and the search ends at the same design; a line cut short is left out."""
    asked = (cart(), "=(x - 1)**2", MASS)
    given = {"outputs": {"x": "rail.q@end"}, "record": tmp_path / "all.jsonl"}
    whole = bc.optimize(*asked, **given)
    lines = given["record"].read_text().splitlines()
    assert len(lines) == 1 + whole.gradients
    given["record"].write_text("\n".join([*lines[:4], lines[4][:20]]))
    runs = []
    inner = CaseOutputs.at
    monkeypatch.setattr(CaseOutputs, "at", lambda self, x, more=None: runs.append(1) or inner(self, x, more))
    again = bc.optimize(*asked, **given, resume=True)
    assert again.x[0] == whole.x[0]
    assert again.gradients == whole.gradients
    assert len(runs) == whole.gradients - 3 + 1  # and the confirmation of the best
    assert given["record"].read_text().splitlines() == lines  # nothing stands behind half a line
    with pytest.raises(bc.StudyError, match="the record of another study"):
        bc.optimize(cart(), "=(x - 2)**2", MASS, **given, resume=True)
    given["record"].write_bytes(b"\xff\xfe\x00")
    with pytest.raises(bc.StudyError, match="is not a record of a search"):
        bc.optimize(*asked, **given, resume=True)


@pytest.mark.parametrize("wrong", [{"cost": float("nan")}, {"gradient": [1.0, 2.0]}, {"x": [1.0, 2.0]}, {"cost": "a"}])
def test_a_line_of_a_record_that_cannot_be_is_not_believed(tmp_path, wrong):
    given = {"outputs": {"x": "rail.q@end"}, "record": tmp_path / "all.jsonl"}
    whole = bc.optimize(cart(), "=(x - 1)**2", MASS, **given)
    head, first, *others = given["record"].read_text().splitlines()
    given["record"].write_text("\n".join([head, json.dumps(json.loads(first) | wrong), *others]))
    assert bc.optimize(cart(), "=(x - 1)**2", MASS, **given, resume=True).x[0] == whole.x[0]


def test_a_process_tells_of_the_designs_that_the_record_has():
    """Else the best of what several processes had found would be forgotten when their search is taken up again."""
    whole = bc.optimize(cart(), "=(x - 1)**2", MASS, outputs={"x": "rail.q@end"})
    study, lines, record = whole.problem.study, [], Record(known={point.x.tobytes(): point for point in whole.history})
    job = {"study": study, "search": study.search, "known": whole.history, "starts": [(1, whole.history[0].x)]}
    serve({**job, "kind": type(whole.problem)}, lines.append)
    (ended,) = [one for line in lines for one in taken_line(line, record)]
    assert ended.success
    assert record.points == whole.history


def test_an_interrupted_search_gives_the_best_so_far():
    def interrupt(count, cost):
        if count == 3:
            raise KeyboardInterrupt

    best = bc.optimize(cart(), "=(x - 1)**2", MASS, outputs={"x": "rail.q@end"}, progress=interrupt)
    assert best.interrupted
    assert not best.success
    assert best.gradients == 3
    assert best.cost == min(point.cost for point in best.history)
    assert "interrupted; the best so far" in str(best)


def test_several_starts_find_the_lower_of_two_valleys():
    """The reach is x = 1.5/m: from the model's own start, 0.75 m, only the valley near 1 m is found."""
    given = {"outputs": {"x": "rail.q@end"}, "starts": 5, "seed": 3}
    cost = "=((x - 1)**2 + 0.05)*((x - 3)**2)"
    best = bc.optimize(cart(), cost, {"parameters.m": (0.3, 2.0)}, **given)
    alone = bc.optimize(cart(), cost, {"parameters.m": (0.3, 2.0)}, outputs=given["outputs"])
    assert alone.x[0] == pytest.approx(1.5, rel=0.1)
    assert best.x[0] == pytest.approx(0.5, rel=1e-3)
    assert sorted(one.start for one in best.searches) == [0, 1, 2, 3, 4]


def test_the_best_model_is_saved_with_the_comments_of_its_file(tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(CART)
    best = bc.optimize(path, "=(x - 1)**2", MASS, outputs={"x": "rail.q@end"})
    bc.save(best.model, tmp_path / "better.toml")
    text = (tmp_path / "better.toml").read_text()
    assert "# kg, to be found" in text
    assert bc.load(tmp_path / "better.toml").parameters["parameters.m"] == best.x[0]
    assert json.loads(json.dumps(best.as_dict()))["parameters"] == best.values


def test_the_picture_shows_convergence_ranges_and_curves(tmp_path):
    best = bc.optimize(cart(), "=(x - 1)**2", MASS, outputs={"x": "rail.q@end"}, iterations=2)
    figure = best.plot(tmp_path / "found.png", points=["cart"])
    titles = [axes.get_title(loc="left") or axes.get_ylabel() for axes in figure.axes]
    assert titles[:4] == ["Cost", "Parameters between their bounds", "rail.q (m)", "Path of cart"]
    assert (tmp_path / "found.png").stat().st_size > 1000


def optimum_in(case):
    return bc.optimize(cart(), "rail.q@end", MASS, cases={"a": case})


WRONG = {
    "no over": (lambda: bc.optimize(cart(), "rail.q@end"), "over is missing"),
    "bounds": (lambda: bc.optimize(cart(), "rail.q@end", {"parameters.m": 3}), "give \\(min, max\\)"),
    "names": (lambda: bc.optimize(cart(), "rail.q@end", "parameters.m"), "give paths of parameters"),
    "order": (lambda: bc.optimize(cart(), "rail.q@end", {"parameters.m": (4, 1)}), "Give a min below max"),
    "no cost": (lambda: bc.optimize(cart(), None, MASS), "the study has no cost"),
    "a curve": (lambda: bc.optimize(cart(), "rail.q", MASS), "is a curve over time"),
    "constraint": (lambda: bc.optimize(cart(), "rail.q@end", MASS, subject_to={"rail.q@end": "x"}), "give a number"),
    "option": (lambda: bc.optimize(cart(), "rail.q@end", MASS, stepp=1), "there is no 'stepp'"),
    "not for derivatives": (lambda: bc.optimize(cart(), "rail.q@end", MASS, max_steps=9.0), "max_steps"),
    "method": (
        lambda: bc.optimize(cart(), "rail.q@end", MASS, subject_to={"rail.q@end": 1}, method="L-BFGS-B"),
        "takes no constraints",
    ),
    "no such optimiser": (lambda: bc.optimize(cart(), "rail.q@end", MASS, method="BFGS"), 'no optimiser .* mean "L-BFGS-B"'),
    "no start": (lambda: bc.optimize(cart(), "rail.q@end", MASS, starts=0), "starts is 0. Give a whole number, 1 or more"),
    "half a start": (lambda: bc.optimize(cart(), "rail.q@end", MASS, starts=2.5), "starts is 2.5"),
    "tolerance": (lambda: bc.optimize(cart(), "rail.q@end", MASS, tolerance=0), "above zero"),
    "least squares": (lambda: bc.optimize(cart(), "rail.q@end", MASS, method="least_squares"), "for fits"),
    "event": (lambda: bc.optimize(cart(), "rail.q@end", MASS, events=[bc.Event("rail", 0.5)]), "have a name"),
    "distribution": (
        lambda: bc.optimize(cart(), "rail.q@end", {"parameters.m": bc.studies.study.variations.Uniform(1.0, 2.0)}),
        "an optimisation takes bounds",
    ),
    "x": (lambda: bc.optimize(cart(), "rail.q@end", MASS, iterations=1).problem.evaluate([1.0, 2.0]), "give 1 finite"),
    "minimize": (lambda: bc.optimize("some.toml", "rail.q@end"), "a study says its cost itself"),
    "analysis": (lambda: optimum_in({"analysis": "driv"}), "there is no analysis 'driv'"),
    "no such coordinate": (lambda: optimum_in({"analysis": "drive", "coordinate": "rai", "values": [0, 1]}), 'mean "rail"'),
    "no input": (lambda: optimum_in({"analysis": "drive", "values": [0, 1]}), "a drive without an input"),
    "to and fro": (
        lambda: optimum_in({"analysis": "drive", "coordinate": "rail", "values": [0, 1, 0]}),
        "increase or decrease",
    ),
    "a number of a position": (lambda: optimum_in({"analysis": "equilibrium"}), "there is one position only"),
    "all modes": (lambda: optimum_in({"analysis": "modes", "minimize": "damping"}), "a number of every mode"),
    "no such case": (
        lambda: bc.optimize(cart(), "rail.q@end", MASS, subject_to={"a": {"of": "rail.q@end", "max": 1.0, "cases": ("b",)}}),
        'there is no case "b"',
    ),
    "no number": (lambda: bc.optimize(cart(), "rail.q@end", {"parameters.m": ("a", 2)}), "min is 'a'. Give a number"),
    "scale": (lambda: bc.optimize(cart(), "rail.q@end", {"parameters.m": {"scale": 0.0}}), "number that is more than zero"),
    "limit": (lambda: bc.optimize(cart(), "rail.q@end", MASS, subject_to={"rail.q@end": (np.nan, 1)}), "min is nan"),
    "weight": (lambda: optimum_in({"weight": -1.0}), "weight is -1.0. Give a number that is zero or more"),
    "list of cases": (lambda: bc.optimize(cart(), "rail.q@end", MASS, cases=["a"]), "Give a mapping"),
    "progress": (lambda: bc.optimize(cart(), "rail.q@end", MASS, progress=3), "progress is 3. Give a function"),
    "record": (lambda: bc.optimize(cart(), "rail.q@end", MASS, record="no/such/folder/x"), "cannot be written"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_an_optimisation_is_said(case):
    call, said = WRONG[case]
    with pytest.raises(bc.BellcrankError, match=said):
        call()


SPRUNG = CART.replace("m = 2.0 ", "k = 20.0\nm = 0.3 ") + '[springs.coil]\njoint = "rail"\nstiffness = "=k"\n'
OF_ALL_KINDS = {
    "swings": {"analysis": "modes", "minimize": "=(turns - 2)**2"},
    "hangs": {"analysis": "equilibrium", "minimize": "=100*(sag - 0.1)**2", "weight": 2.0},
    "pulled": {"analysis": "drive", "coordinate": "rail", "values": [0.0, 0.05, 0.2]},
}


def test_cases_are_drives_equilibria_and_modes_too():
    """F = k x at rest gives k = 30, and (2 pi f)^2 = k/m the mass; the spring pulls with k 0.2 where it is driven to 0.2 m."""
    best = bc.optimize(
        bc.load(SPRUNG),
        over={"parameters.k": (5.0, 100.0), "parameters.m": (0.1, 1.0)},
        outputs={"turns": "mode1.frequency", "sag": "rail.q", "pull": "max(abs(coil.force))"},
        subject_to={"pull": {"of": "pull", "max": 50.0, "cases": ("pulled",)}},
        cases=OF_ALL_KINDS,
    )
    assert best.x == pytest.approx([30.0, 30.0 / (4 * np.pi) ** 2], rel=1e-5)
    assert best.constraint_values() == {"pull in pulled": pytest.approx(6.0, rel=1e-5)}
    over = {"parameters.crank_length": (0.3, 1.5)}
    case = {"analysis": "drive", "coordinate": "crank_pivot", "values": [-0.5, 0.5, 2.5]}
    turned = bc.optimize("four_bar", "max(rocker.x)", over, cases={"a": case}, iterations=1).problem
    with pytest.raises(Infeasible, match="only 2 of 3 values"):
        turned.cost_and_gradient([1.3])


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_a_missing_package_names_its_install(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    problem = bc.optimize(cart(), "rail.q@end", MASS, iterations=1).problem
    with pytest.raises(bc.MissingExtraError, match=f"pip install {package}"):
        getattr(problem, package)()


def test_the_cost_is_differentiable_in_jax():
    jax = pytest.importorskip("jax")
    problem = bc.optimize(cart(), "rail.q@end", MASS, iterations=1).problem
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        value, slope = jax.value_and_grad(lambda x: 2 * problem.jax()(x))(jax.numpy.array([2.0]))
    assert float(value) == pytest.approx(1.5, rel=1e-6)
    assert float(slope[0]) == pytest.approx(-0.75, rel=1e-6)


def test_the_cost_is_differentiable_in_torch():
    torch = pytest.importorskip("torch")
    problem = bc.optimize(cart(), "rail.q@end", MASS, iterations=1).problem
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    (2 * problem.torch()(x)).backward()
    assert float(x.grad[0]) == pytest.approx(-0.75, rel=1e-9)
