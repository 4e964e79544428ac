"""The default figure shows what a designer looks for, and stays legible."""

from __future__ import annotations

import errno
import io
import sys

import numpy as np
import pytest

import bellcrank
from bellcrank.errors import DynamicsError, StateError
from bellcrank.model import Measure, PrescribedMotion
from bellcrank.results.plots import DRAWN, NAMED, most_moving

from .mechanisms import HINGE_Y, SLIDE_X, joint_element, make, polynomial

pytestmark = pytest.mark.filterwarnings("error")


def panels(figure):
    """Panels of a figure by the label of their y axis."""
    return {axes.get_ylabel(): axes for axes in figure.axes}


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_angles_and_lengths_have_axes_of_their_own(make_run):
    found = panels(make_run("prismatic", "revolute").plot())
    assert list(found) == [
        "length (m)",
        "angle (rad)",
        "velocity (m/s)",
        "angular velocity (rad/s)",
        "energy (J)",
        "reaction (N)",
    ]
    assert legend(found["length (m)"]) == ["j0"]
    assert legend(found["angle (rad)"]) == ["j1"]


def test_quaternions_are_not_drawn(make_run):
    assert list(panels(make_run("free").plot()))[:3] == ["length (m)", "velocity (m/s)", "angular velocity (rad/s)"]


def test_energy_shows_its_parts_and_the_error(make_run):
    axes = panels(make_run().plot())["energy (J)"]
    assert legend(axes) == ["kinetic", "potential", "total"]
    assert axes.get_legend().get_title().get_text() == "energy error\n0"


def test_the_largest_reactions_come_first(make_run):
    axes = panels(make_run(*["revolute"] * 9).plot())["reaction (N)"]
    assert legend(axes) == ["j8", "j7", "j6", "j5"]
    assert axes.get_legend().get_title().get_text() == "the 4 largest\nof 9 joints"


def test_many_coordinates_do_not_drown_the_figure(make_run):
    axes = panels(make_run(*["revolute"] * 100).plot())["angle (rad)"]
    assert len(axes.lines) == DRAWN
    assert len(legend(axes)) == NAMED
    assert axes.get_legend().get_title().get_text() == "40 of 100: those that\nmove most; 12 named"


def test_of_many_lines_those_that_move_most_are_drawn():
    values = np.array([[0.0, 0, 0, 0], [1, 5, 2, 9]])
    assert most_moving(values, 2).tolist() == [1, 3]


def test_a_run_that_stopped_early_is_marked(make_run):
    figure = make_run(stopped="NaN at t = 4 s", duration=4.0).plot()
    assert "stopped early: NaN at t = 4 s" in figure.get_suptitle()
    for axes in figure.axes:
        assert any(np.all(np.asarray(line.get_xdata()) == 4.0) for line in axes.lines)


@pytest.mark.parametrize("kinds", [("revolute",), ("fixed",), ("free", "spherical", "prismatic")])
@pytest.mark.parametrize("samples", [0, 1, 50])
def test_any_run_can_be_drawn(make_run, tmp_path, kinds, samples):
    make_run(*kinds, samples=samples, stopped="why not").plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_names_are_shown_as_they_are_written(make_run, tmp_path):
    run = make_run("revolute", "revolute")
    names = ("_hidden$x", "a" * 50)
    object.__setattr__(run.labels, "coordinates", names)
    figure = run.plot(tmp_path / "run.png")
    assert legend(figure.axes[0]) == [r" _hidden\$x", "a" * 27 + "\N{HORIZONTAL ELLIPSIS}"]


def test_what_cannot_be_derived_is_said_in_its_panel(make_run, monkeypatch):
    def fails(*_, **__):
        raise DynamicsError("no finite answer")

    monkeypatch.setattr(bellcrank, "compile", fails)
    found = panels(make_run().plot())
    assert [text.get_text() for text in found["energy (J)"].texts] == ["no finite answer"]
    assert [text.get_text() for text in found["reaction (N)"].texts] == ["no finite answer"]


def test_the_format_follows_the_ending_and_an_existing_picture_is_replaced_unless_it_is_to_be_kept(make_run, tmp_path):
    run = make_run()
    run.plot(tmp_path / "run.svg")
    assert "<svg" in (tmp_path / "run.svg").read_text()
    with pytest.raises(StateError, match=r"run.svg exists already, and keep=True"):
        run.plot(tmp_path / "run.svg", keep=True)
    run.plot(tmp_path / "run.svg")


def test_an_unknown_picture_format_is_refused(make_run, tmp_path):
    with pytest.raises(StateError, match=r"cannot draw .*run.xyz: its ending must be one of .*png"):
        make_run().plot(tmp_path / "run.xyz")


def test_drawing_leaves_pyplot_alone(make_run):
    before = "matplotlib.pyplot" in sys.modules
    make_run().plot()
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_works_drives_and_measures_have_panels_where_there_are_any(tmp_path):
    """Each unit has an axis of its own; sources that do no work are not drawn."""
    elements = (joint_element("drag", "damper", 1, damping=0.1), joint_element("idle", "damper", 1, damping=0.0))
    measures = (
        Measure("bob", "position", body_a=1, point_a=(0, 0, -1.0)),
        Measure("twice", "expression", expression="2*bob.x"),
    )
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 0, 1.0),)), None), elements=elements, measures=measures,
                 given_v=[1.0])  # fmt: skip
    found = panels(bellcrank.simulate(model, 1.0).plot(tmp_path / "run.png"))
    assert list(found)[2:] == ["energy (J)", "reaction (N)", "work (J)", "effort (N)", "length (m)", "formula"]
    assert legend(found["energy (J)"]) == ["kinetic", "potential", "stored", "total"]
    assert legend(found["work (J)"]) == ["drag", "drive of j0"]
    assert legend(found["effort (N)"]) == ["j0"]
    assert legend(found["length (m)"]) == ["bob.x", "bob.y", "bob.z"]
    assert legend(found["formula"]) == ["twice"]


def test_measures_that_cannot_be_evaluated_say_so_in_their_panel():
    model = make(SLIDE_X, measures=(Measure("lost", "expression", expression="2*nowhere"),))
    texts = panels(bellcrank.simulate(model, 0.1).plot())["formula"].texts
    assert "which is not a measure" in texts[0].get_text().replace("\n", " ")


@pytest.mark.parametrize("ending", ["pdf", "png"])
def test_on_a_full_disk_a_picture_is_an_error_of_ours_and_the_old_one_stays(ending, make_run, tmp_path, monkeypatch):
    """The writer of PDF ends with an error of zlib there."""

    class Full(io.BytesIO):
        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / f"run.{ending}"
    path.write_text("old")
    monkeypatch.setattr("bellcrank.writing.os.fdopen", lambda *_: Full())
    with pytest.raises(StateError, match=rf"cannot write .*run\.{ending}: No space left on device"):
        make_run("revolute").plot(path=path)
    assert path.read_text() == "old"
