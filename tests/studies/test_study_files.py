"""Study files: what they say, and all that is wrong with them at once, with lines."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.studies.study import read_study
from bellcrank.studies.study.spec import Case, Constraint, Cost, Fit, RunOptions, Search, Sweep, Watched
from bellcrank.studies.study.variations import Bounds, Listed, Lognormal, Normal, Spaced, Triangular, Uniform

WHOLE = """\
format = 1
name = "ride"
model = "four_bar"
duration = "400 ms"

[run]
method = "dopri5"
tolerance = 1e-9
step = 0.02
q = { crank_pivot = 0.2 }

[events.pass]
of = "crank_pivot"
value = 1.1

[parameters]
"parameters.crank_length" = { min = "400 mm", max = 0.6, start = 0.5, scale = 0.1 }
parameters.coupler_length = { distribution = "normal", deviation = 0.01 }
parameters.density = { from = 0.5, to = 1.5, count = 3 }
"gravity.y" = { values = [-9.81, -1.62] }

[cases.slow]
[cases.fast]
weight = 2
set = { "parameters.speed" = 8.0 }
v = { crank_pivot = 8.0 }

[outputs]
swing = "max(abs(rocker_pivot.v))"
energy = "mean(energy.kinetic)"

[cost]
minimize = "=swing**2 + 0.1*energy"

[constraints.late]
of = "pass.time"
max = 0.3
[constraints.same]
of = "energy"
equals = 2.0

[optimize]
method = "SLSQP"
starts = 4

[sweep]
design = "latin_hypercube"
runs = 100
seed = 7
"""


def test_a_study_file_says_all_that_a_study_is():
    text = WHOLE.replace('set = { "parameters.speed" = 8.0 }\n', 'set = { "gravity.x" = 1.0 }\n')
    found = read_study(text)
    assert found.model.name == bc.load("four_bar").name
    assert (found.name, found.duration) == ("ride", 0.4)
    assert found.run == RunOptions(method="dopri5", tolerance=1e-9, step=0.02, q={"crank_pivot": 0.2})
    assert found.run.given() == {"method": "dopri5", "rtol": 1e-9, "atol": 1e-9, "step": 0.02, "q": {"crank_pivot": 0.2}}
    assert found.events == {"pass": Watched("crank_pivot", 1.1)}
    assert found.parameters == {
        "parameters.crank_length": Bounds(0.4, 0.6, 0.5, 0.1),
        "parameters.coupler_length": Normal(0.01),
        "parameters.density": Spaced(0.5, 1.5, 3),
        "gravity.y": Listed((-9.81, -1.62)),
    }
    assert found.cases == (Case("slow"), Case("fast", weight=2.0, set={"gravity.x": 1.0}, v={"crank_pivot": 8.0}))
    assert found.outputs == {"swing": "max(abs(rocker_pivot.v))", "energy": "mean(energy.kinetic)"}
    assert found.cost == Cost("=swing**2 + 0.1*energy")
    assert found.constraints == {"late": Constraint("pass.time", max=0.3), "same": Constraint("energy", equals=2.0)}
    assert found.search == Search("SLSQP", starts=4)
    assert found.sweep == Sweep("latin_hypercube", 100, 7)


MISTAKES = {
    'model = "four_bar"': ('model = "five_legs"', 3, "nor a model of that name"),
    'duration = "400 ms"': ('duration = "400 mm"', 4, "duration"),
    'method = "dopri5"': ('method = "euler"', 7, "there is no method 'euler'"),
    "tolerance = 1e-9": ("tolerance = -1", 8, "more than zero"),
    "step = 0.02": ("stepp = 0.02", 9, 'unknown key "stepp". Did you mean "step"?'),
    'of = "crank_pivot"': ("of = 3", 13, "text in quotes"),
    "max = 0.6": ("max = 0.3", 17, "Give a min below max"),
    "start = 0.5": ("start = 0.7", 17, "outside its bounds"),
    '"normal"': ('"gauss"', 18, 'no distribution "gauss"'),
    "count = 3": ("count = 1", 19, "Give 2 or more"),
    "[-9.81, ": ('["2 kg", ', 20, "kg"),
    "[-9.81, -1.62]": ("[]", 20, "one or more finite numbers"),
    '"gravity.y"': ('"gravity.w"', 20, '"gravity.w" is not a number of this model'),
    "crank_pivot = 0.2": ("crank = 0.2", 10, "not a coordinate of 'four-bar' (did you mean 'crank_pin'?)"),
    "crank_pivot = 8.0": ("turns = 8.0", 26, "v has 'turns', which is not a coordinate"),
    "weight = 2": ("weight = -2", 24, "zero or more"),
    '"gravity.x" = 1.0': ('"gravity.y" = 1.0', 25, "is a parameter of the study"),
    "rocker_pivot.v": ("rocker_pivott.v", 29, 'Did you mean "rocker_pivot.v"'),
    'energy = "': ('"my energy" = "', 30, "so that formulas can name it"),
    "0.1*energy": ("0.1*energies", 33, 'names "energies", which is not an output. Did you mean "energy"'),
    "swing**2": ("swing^2", 33, "Write ** for a power"),
    'of = "pass.time"': ('of = "crank_pivot.v"', 36, "is a curve over time"),
    "equals = 2.0": ("equals = 2.0\nmin = 1", 38, "it has equals, and min or max besides"),
    "\nmax = 0.3\n[": ("\n\n[", 35, "it has no limit"),
    '"SLSQP"': ('"newton"', 43, "SLSQP"),
}


@pytest.mark.parametrize("part", MISTAKES)
def test_every_mistake_is_named_with_its_line(part):
    text = WHOLE.replace('"parameters.speed" = 8.0', '"gravity.x" = 1.0')
    wrong, line, said = MISTAKES[part]
    assert part in text
    with pytest.raises(bc.StudyError) as error:
        read_study(text.replace(part, wrong, 1))
    assert said in str(error.value)
    assert f"line {line}" in str(error.value)


def test_a_model_in_the_place_of_a_study_is_named():
    with pytest.raises(bc.StudyError, match="arm.toml is a model, and no study"):
        read_study("format = 1\n[bodies.arm]\nmass = 1.0\n", "arm.toml")


def test_all_mistakes_come_at_once():
    with pytest.raises(bc.StudyError) as error:
        read_study('format = 1\nmodel = "pendulum"\n[parameters]\n"a.b" = { min = 1 }\n[outputs]\nx = "no.such"\n[cost]\n')
    assert str(error.value).startswith("3 problems in this study:")
    for said in ('line 4: "a.b" is not a number', 'line 6: output "no.such"', "[cost] has no minimize"):
        assert said in str(error.value)


OF_A_DRIVE = """\
format = 1
model = "four_bar"
[parameters]
"parameters.rocker_length" = { min = 1, max = 2 }
[cases.turn]
analysis = "drive"
coordinate = "crank_pivot"
values = { from = 0, to = "90 deg", count = 3 }
minimize = "max(rocker.x)"
[cases.hang]
analysis = "equilibrium"
minimize = "rocker.x"
"""


def test_cases_of_a_file_name_their_analysis():
    turn, hang = read_study(OF_A_DRIVE).cases
    assert (turn.coordinate, turn.minimize) == ("crank_pivot", "max(rocker.x)")
    assert turn.values == pytest.approx([0.0, np.pi / 4, np.pi / 2])
    assert hang == Case("hang", analysis="equilibrium", minimize="rocker.x")
    for given, wrong in (
        ('"drive"', '"drives"'),
        ("count = 3", "count = 1"),
        ('{ from = 0, to = "90 deg", count = 3 }', '"all"'),
    ):
        with pytest.raises(bc.StudyError, match=r"line \d+.*(analysis|2 or more|Give numbers)"):
            read_study(OF_A_DRIVE.replace(given, wrong))


def test_a_file_that_is_no_study_is_refused(tmp_path):
    for text, said in (("[", "line 1: not TOML"), ("x = 1\n", "does not state its format"), ("format = 2\n", "format is 2")):
        with pytest.raises(bc.StudyError, match=said):
            read_study(text)
    with pytest.raises(bc.StudyError, match="there is no such file"):
        bc.load_study(tmp_path / "none.toml")
    with pytest.raises(bc.StudyError, match="nor a study of that name"):
        bc.load_study("no_such_study")
    with pytest.raises(bc.StudyError, match="no parameters"):
        read_study('format = 1\nmodel = "pendulum"\n')


def test_a_study_names_a_model_beside_it(tmp_path):
    bc.save(bc.load("pendulum"), tmp_path / "mine.toml")
    study = tmp_path / "study.toml"
    study.write_text('format = 1\nmodel = "mine.toml"\n[parameters]\n"gravity.y" = { min = -12, max = -8 }\n')
    assert bc.load_study(study).model.nq == 1
    assert bc.load_study(study).name == "study"


def test_measured_curves_are_named_with_their_deviations():
    text = 'format = 1\nmodel = "pendulum"\n[parameters]\n"gravity.z" = { min = -12 }\n'
    text += '[fit]\ndata = "swing.csv"\ncolumns = { "pivot.q" = "angle" }\ndeviation = 0.01\n'
    name = bc.load("pendulum").joint_names[0]
    found = read_study(text.replace("pivot.q", f"{name}.q"))
    assert found.fit == Fit("swing.csv", columns={f"{name}.q": "angle"}, deviation={"angle": 0.01})
    with pytest.raises(bc.StudyError, match="Curves are compared at all of their times"):
        read_study(text.replace("pivot.q", f"{name}.q@end"))


@pytest.mark.parametrize(
    ("distribution", "mean", "deviation"),
    [
        (Normal(0.5), 2.0, 0.5),
        (Normal(0.5, mean=1.0), 1.0, 0.5),
        (Uniform(1.0, 3.0), 2.0, 2 / np.sqrt(12)),
        (Triangular(0.0, 3.0), 5 / 3, np.sqrt((9 + 4 - 6) / 18)),
        (Lognormal(0.25), 2 * np.exp(0.25**2 / 2), 2 * np.exp(0.25**2 / 2) * np.sqrt(np.exp(0.25**2) - 1)),
    ],
)
def test_distributions_have_the_mean_and_deviation_of_the_textbook(distribution, mean, deviation):
    """By the midpoint rule over their quantiles, whose error in the tails is about 1e-4 with 10^5 points."""
    x = distribution.quantile((np.arange(100_000) + 0.5) / 100_000, own=2.0)
    assert np.mean(x) == pytest.approx(mean, rel=1e-4)
    assert np.std(x) == pytest.approx(deviation, rel=1e-3)
    assert distribution.wrong() == ""


def test_a_normal_distribution_is_cut_off_at_its_limits():
    x = Normal(1.0, mean=0.0, min=-1.0, max=2.0).quantile([0.0, 0.5, 1.0], own=0.0)
    assert x[0] == pytest.approx(-1.0)
    assert x[2] == pytest.approx(2.0)
    assert "below max" in Normal(1.0, min=2.0, max=1.0).wrong()
    assert "below max" in Uniform(1.0, 1.0).wrong()
    assert "order" in Triangular(0.0, 1.0, mode=2.0).wrong()
