"""Where runs start: a model's initial state satisfies its loops, and so does every start that is made from what a caller gives."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.assembly import start_rows, start_run, wanted
from bellcrank.errors import AssemblyError, ModelError, StateError
from bellcrank.io.shipped import gallery
from bellcrank.model.manifold import displaced
from tests.closed_linkages import four_bar as bars_from_arrays

CLOSED_MODELS = ("bricard", "double_wishbone", "engine", "excavator", "five_bar", "four_bar", "gearbox", "n_four_bar",
                 "parallelogram", "planetary", "quarter_car", "scissor_lift", "slider_crank", "squeezer", "stewart",
                 "strandbeest")  # fmt: skip
A, B, C = 0.5, 1.8, 1.2  # crank, coupler and rocker of the gallery's four-bar, 2 m between the pivots
WITHOUT_REACH = """
format = 1
name = "cannot close"
duration = 1.0
[bodies.crank]
rod = { from = [0, 0, 0], to = [1, 0, 0], radius = 0.01, mass = 1 }
[bodies.coupler]
rod = { from = [1, 0, 0], to = [2, 0, 0], radius = 0.01, mass = 1 }
[joints.pivot]
type = "revolute"
parent = "ground"
child = "crank"
point = [0, 0, 0]
axis = "z"
[joints.pin]
type = "revolute"
parent = "crank"
child = "coupler"
point = [1, 0, 0]
axis = "z"
[joints.far_pivot]
type = "revolute"
parent = "ground"
child = "coupler"
point = [3, 0, 0]
child_point = [2, 0, 0]
cut = true
axis = "z"
"""


@pytest.fixture(scope="module")
def four_bar():
    return bc.load("four_bar")


@pytest.fixture(scope="module")
def bars(four_bar):
    return bc.compile(four_bar, optimisation=0)


def speeds_of_pins(q, crank_speed):
    """Velocities of the four-bar's joints: those of the coupler and the rocker follow from their common pin, by its two circles."""
    crank = 0.7 + q[0]
    gap = np.array([2.0, 0.0]) - A * np.array([np.cos(crank), np.sin(crank)])
    d = np.linalg.norm(gap)
    coupler = np.arctan2(gap[1], gap[0]) + np.arccos((B**2 + d**2 - C**2) / (2 * B * d))
    pin = A * np.array([np.cos(crank), np.sin(crank)]) + B * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(pin[1], pin[0] - 2.0)
    # A w_1 n_1 + B w_2 n_2 = C w_3 n_3, n across each bar
    n = np.array([[-np.sin(x), np.cos(x)] for x in (crank, coupler, rocker)])
    w2, w3 = np.linalg.solve(np.column_stack([B * n[1], -C * n[2]]), -A * crank_speed * n[0])
    return np.array([crank_speed, w2 - crank_speed, w3 - w2])


class TestOfAModel:
    @pytest.mark.parametrize("name", CLOSED_MODELS)
    def test_the_initial_state_of_every_closed_model_satisfies_its_loops(self, name):
        """To rounding: some ulps of lengths and speeds of the model."""
        model = bc.load(name)
        position, rate = bc.compile(model, optimisation=0).closure(model.initial_q, model.initial_v)
        assert np.abs(position).max() < 1e-14
        assert np.abs(rate).max() <= 1e-14 * max(1.0, np.abs(model.initial_v).max())

    def test_the_list_above_has_all_closed_models_of_the_gallery(self):
        assert {name for name in gallery() if bc.load(name).closures} == set(CLOSED_MODELS)

    def test_the_crank_of_the_four_bar_has_its_written_speed_and_the_others_follow(self, four_bar):
        assert four_bar.given_v.tolist() == [6.0, 0.0, 0.0]
        np.testing.assert_allclose(four_bar.initial_v, speeds_of_pins(four_bar.initial_q, 6.0), rtol=1e-13)

    def test_the_report_of_its_assembly_has_the_velocities(self, four_bar):
        report = str(four_bar.assembled_start)
        assert "v of crank_pivot: 6 rad/s, not changed" in report
        assert "v of crank_pin: -7.47521191 rad/s, changed by -7.47521" in report

    def test_accelerations_at_the_initial_state_are_those_with_which_a_run_begins(self, four_bar, bars):
        a = bars.acceleration(four_bar.initial_q, four_bar.initial_v)
        np.testing.assert_array_equal(bc.simulate(four_bar, 0.01).values("v")[0], four_bar.initial_v)
        h = 1e-4  # of a central difference along the run
        run = bc.simulate(four_bar, 2 * h, step=h)
        np.testing.assert_allclose((run.values("v")[2] - run.values("v")[0]) / (2 * h), a, rtol=2e-2)
        assert a[0] == pytest.approx(-42.4, abs=0.05)

    def test_a_tree_starts_as_it_was_written(self):
        model = bc.load("double_pendulum")
        assert model.initial_q is model.given_q and model.initial_v is model.given_v

    def test_it_is_assembled_once_and_cannot_be_written_to(self, four_bar):
        assert four_bar.initial_v is four_bar.initial_v
        with pytest.raises(ValueError, match="read-only"):
            four_bar.initial_v[0] = 1.0

    def test_a_changed_copy_assembles_its_own_and_keeps_what_was_written(self, four_bar):
        four_bar.initial_v
        lighter = replace(four_bar, gravity=(0.0, 0.0, 0.0), mass=four_bar.mass * [1.0, 9.0, 1.0])
        np.testing.assert_allclose(lighter.initial_v, four_bar.initial_v, rtol=1e-13)
        slower = four_bar.with_parameters({"initial.crank_pivot.v.0": 3.0})
        np.testing.assert_allclose(slower.initial_v, four_bar.initial_v / 2, rtol=1e-13)
        other = four_bar.with_parameters({"parameters.start": 1.1})
        np.testing.assert_allclose(other.initial_v, speeds_of_pins(np.array([0.4]), 6.0), rtol=1e-12)

    def test_it_survives_pickling(self):
        model = bc.load("four_bar")
        v = model.initial_v
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).initial_v, v)

    def test_a_model_from_arrays_is_moved_least_from_what_was_given(self):
        model = replace(bars_from_arrays(), given_v=np.array([6.0, 0.0, 0.0]))
        held = replace(model, held_v=(model.joint_names[0],))
        dyn = bc.compile(model, optimisation=0)
        energies = [dyn.energy(m.initial_q, m.initial_v - m.given_v)[0] for m in (model, held)]
        assert held.initial_v[0] == 6.0 and energies[0] < energies[1]

    @pytest.mark.parametrize("field", ["held_q", "held_v"])
    def test_what_is_held_must_be_a_joint(self, four_bar, field):
        with pytest.raises(ModelError, match=f'{field} names "crank", which is not a joint. Did you mean "crank_pi'):
            replace(four_bar, **{field: ("crank",)})

    def test_a_model_that_cannot_be_assembled_can_still_be_looked_at_and_saved(self, tmp_path):
        path = tmp_path / "open.toml"
        path.write_text(WITHOUT_REACH)
        model = bc.load(path)
        with pytest.raises(AssemblyError, match="cannot be assembled: its loops do not close"):
            model.initial_q
        assert any("cannot be assembled" in remark for remark in model.check().remarks)
        bc.save(model, tmp_path / "again.toml")
        assert bc.load(tmp_path / "again.toml").given_q.tolist() == [0.0, 0.0]
        with pytest.raises(AssemblyError, match="its points are apart by 1 m"):
            bc.simulate(model, 0.1, q=[0.0, 0.0])

    def test_starts_of_assemblies_are_held_too(self, tmp_path):
        """[initial] inside an assembly gives its copies their starts."""
        path = tmp_path / "copies.toml"
        path.write_text(COPIES)
        model = bc.load(path)
        assert model.held_q == ("left.a", "right.a")
        position, _ = bc.compile(model, optimisation=0).closure(model.initial_q, model.initial_v)
        assert np.abs(position).max() < 1e-14
        assert model.initial_q[[model.q_names.index(name) for name in model.held_q]].tolist() == [0.3, 0.3]


COPIES = """
format = 1
name = "two parallelograms"
[assemblies.frame.bodies.crank]
rod = { from = [0, 0, 0], to = [0, 1, 0], radius = 0.01, mass = 1 }
[assemblies.frame.bodies.bar]
rod = { from = [0, 1, 0], to = [2, 1, 0], radius = 0.01, mass = 1 }
[assemblies.frame.bodies.rocker]
rod = { from = [2, 0, 0], to = [2, 1, 0], radius = 0.01, mass = 1 }
[assemblies.frame.joints]
a = { type = "revolute", parent = "ground", child = "crank", point = [0, 0, 0], axis = "z" }
b = { type = "revolute", parent = "crank", child = "bar", point = [0, 1, 0], axis = "z" }
c = { type = "revolute", parent = "ground", child = "rocker", point = [2, 0, 0], axis = "z" }
d = { type = "revolute", parent = "bar", child = "rocker", point = [2, 1, 0], axis = "z", cut = true }
[assemblies.frame.initial]
a = 0.3
[copies.left]
of = "frame"
[copies.right]
of = "frame"
offset = [5, 0, 0]
"""


class TestOfARun:
    def test_the_models_own_state_given_as_arrays_changes_nothing(self, four_bar):
        own, given = bc.simulate(four_bar, 0.05), bc.simulate(four_bar, 0.05, q=four_bar.initial_q, v=four_bar.initial_v)
        np.testing.assert_array_equal(given.values("q"), own.values("q"))

    @pytest.mark.parametrize("given", [{"v": {"crank_pivot": 2.0}}, {"q": {"crank_pivot": 0.3}, "v": {"crank_pivot": 2.0}}])
    def test_what_is_named_is_kept_and_the_others_follow(self, four_bar, given):
        run = bc.simulate(four_bar, 0.01, **given)
        q, v = run.values("q")[0], run.values("v")[0]
        assert q[0] == given.get("q", {}).get("crank_pivot", 0.0) and v[0] == 2.0
        np.testing.assert_allclose(v, speeds_of_pins(q, 2.0), rtol=1e-12)

    @pytest.mark.parametrize("given", [{"left.a": 0.1}, np.array([0.1, -0.3, 0.3, 0.3, -0.3, 0.3])])
    def test_other_values_of_the_file_are_kept_where_the_loops_leave_room(self, tmp_path, given):
        """Of two linkages one is moved, and the other stays where the file says."""
        path = tmp_path / "copies.toml"
        path.write_text(COPIES)
        model = bc.load(path)
        assert model.q_names == ("left.a", "left.b", "left.c", "right.a", "right.b", "right.c")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.BellcrankWarning)
            q = bc.simulate(model, 0.01, q=given).values("q")[0]
        assert q == pytest.approx([0.1, -0.1, 0.1, 0.3, -0.3, 0.3], abs=1e-12)

    def test_names_work_on_trees_too(self):
        model = bc.load("double_pendulum")
        name = model.q_names[1]
        run = bc.simulate(model, 0.01, q={name: 0.25}, v={name: 1.0})
        assert run.values("q")[0].tolist() == [model.given_q[0], 0.25] and run.values("v")[0, 1] == 1.0

    def test_velocities_that_must_be_changed_are_told_by_name_amount_and_energy(self, four_bar, bars):
        given = np.array([2.0, 3.0, 4.0])
        with pytest.warns(bc.BellcrankWarning) as told:
            run = bc.simulate(four_bar, 0.01, v=given)
        v = run.values("v")[0]
        before, after = (bars.energy(four_bar.initial_q, x)[0] for x in (given, v))
        assert after < before
        text = str(told[0].message)
        for name, x, y in zip(four_bar.v_names, given, v, strict=True):
            assert f"v of '{name}' from {x:.6g} to {y:.6g} rad/s" in text
        assert f"Its kinetic energy is {after:.6g} J instead of {before:.6g} J." in text
        assert told[0].filename == __file__

    def test_positions_that_must_be_changed_are_told_with_the_potential_energy(self, four_bar, bars):
        with pytest.warns(bc.BellcrankWarning, match="'crank_pin' from 0 to -0.364023 rad, .*potential energy is 22.3367 J"):
            run = bc.simulate(four_bar, 0.01, q=[0.3, 0.0, 0.0])
        q = run.values("q")[0]
        assert q[0] == 0.3 and np.abs(bars.closure(q, np.zeros(3))[0]).max() < 1e-14  # what differs from the model's is kept

    def test_velocities_of_the_file_that_contradict_the_loops_can_be_replaced(self, four_bar):
        wrong = replace(four_bar, given_v=np.ones(3), held_v=four_bar.joint_names)
        with pytest.raises(AssemblyError, match="no velocities that its loops agree with"):
            wrong.initial_v
        run = bc.simulate(wrong, 0.01, v=four_bar.initial_v)
        np.testing.assert_array_equal(run.values("v")[0], four_bar.initial_v)
        runs = bc.simulate_many(wrong, 0.01, v=[four_bar.initial_v, 2 * four_bar.initial_v])
        np.testing.assert_array_equal(runs.v_values[1, 0], 2 * four_bar.initial_v)
        assert bc.equilibrium(wrong).stable

    def test_what_the_file_says_is_kept_of_arrays_as_it_wrote_them(self, four_bar):
        with pytest.warns(bc.BellcrankWarning, match="was changed"):
            run = bc.simulate(four_bar, 0.01, q=four_bar.given_q, v=four_bar.given_v)
        np.testing.assert_allclose(run.values("v")[0], four_bar.initial_v, rtol=1e-13)

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ({"q": {"crank": 1.0}}, StateError, "q has 'crank', which is not a coordinate of 'four-bar'"),
            ({"v": {"crank_pivot": "fast"}}, StateError, "v of 'crank_pivot' must be a number"),
            ({"q": {"rocker_pin": -3.0}}, AssemblyError, "'rocker_pin' = -3 rad is past a toggle"),
            ({"v": {"crank_pivot": 1.0, "crank_pin": 1.0}}, AssemblyError, "no velocities that its loops agree with"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_is_refused(self, four_bar, given, error, message):
        with pytest.raises(error, match=message):
            bc.simulate(four_bar, 0.01, **given)


class TestOfManyRuns:
    names = np.array([0.1, 0.2, 0.3, -2.9])

    def test_the_models_own_start_is_that_of_one_run(self, four_bar):
        runs = bc.simulate_many(four_bar, 0.1, step=0.05, tau=np.zeros((3, 3)))
        assert (runs.status == 0).all()
        np.testing.assert_array_equal(runs.q_values[:, 0], [four_bar.initial_q] * 3)
        np.testing.assert_array_equal(runs.v_values[:, 0], [four_bar.initial_v] * 3)

    @pytest.mark.parametrize("how", ["by name", "changed entries", "velocities", "everything"])
    def test_rows_are_the_single_runs(self, four_bar, how):
        """States to the tolerance of 1e-11 over 0.1 s; the first ones to rounding of the assembly."""
        rng = np.random.default_rng(1)
        rows = {
            "by name": [{"q": {"crank_pivot": x}, "v": {"crank_pivot": 1 + x}} for x in self.names],
            "changed entries": [{"q": four_bar.initial_q + [x, 0, 0]} for x in self.names],
            "velocities": [{"v": [x, 0.0, 0.0]} for x in self.names],
            "everything": [{"q": rng.normal(0, 0.05, 3), "v": rng.normal(size=3)} for _ in range(4)],
        }[how]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            options = {"step": 0.05, "rtol": 1e-11, "atol": 1e-11}
            runs = bc.simulate_many(four_bar, 0.1, **options, **_stacked(rows))
            alone = [bc.simulate(four_bar, 0.1, **options, **row) for row in rows]
        assert (runs.status == 0).all() and runs.messages == (None,) * 4
        for i, run in enumerate(alone):
            np.testing.assert_allclose(runs.q_values[i, 0], run.values("q")[0], rtol=0, atol=1e-12)
            np.testing.assert_allclose(runs.v_values[i, 0], run.values("v")[0], rtol=0, atol=1e-11)
            np.testing.assert_allclose(runs.q_values[i], run.values("q"), rtol=0, atol=1e-9)
            np.testing.assert_allclose(runs.v_values[i], run.values("v"), rtol=0, atol=1e-8)
        assert len(told) == (0 if how == "by name" else 5)  # one for all rows, one for each run
        if told:
            assert "(4 rows were, this one most)" in str(told[0].message) and told[0].filename == __file__

    def test_a_row_that_cannot_be_assembled_says_why_and_disturbs_no_other(self, four_bar):
        wanted = np.array([0.05, -3.0, 0.15, np.nan])
        runs = bc.simulate_many(four_bar, 0.1, step=0.05, q={"rocker_pin": wanted})
        good = bc.simulate_many(four_bar, 0.1, step=0.05, q={"rocker_pin": wanted[[0, 2]]})
        assert runs.status.tolist() == [0, 5, 0, 5] and runs.reached.tolist() == [0.1, 0.0, 0.1, 0.0]
        np.testing.assert_array_equal(runs.q_values[[0, 2]], good.q_values)
        assert runs.q_values[[0, 2], 0, 2].tolist() == [0.05, 0.15]
        assert np.isnan(runs.q_values[1]).all() and np.isnan(runs.a_values[1]).all()
        assert "cannot start: model 'four-bar' cannot be assembled: 'rocker_pin' = -3 rad is past a toggle" in runs.messages[1]
        assert "q of 'rocker_pin' is nan" in runs.messages[3]
        with pytest.raises(StateError, match="run 1 has no samples: it cannot start"):
            runs.run(1)

    @pytest.mark.parametrize("name", ["excavator", "stewart"])
    def test_other_loops_start_row_by_row_as_alone(self, name):
        """Driven cylinders, and legs with balls, from starts that are off by hundredths of a radian."""
        model = bc.load(name)
        dyn, rng = bc.compile(model, optimisation=0), np.random.default_rng(3)
        q = displaced(model, model.initial_q, 0.02 * rng.normal(size=(3, model.nv)))
        v = rng.normal(size=(3, model.nv))
        rows = start_rows(dyn, wanted(dyn, "q", q), wanted(dyn, "v", v))
        for i in range(3):
            with pytest.warns(bc.BellcrankWarning, match="was changed"):
                alone = start_run(dyn, q[i], v[i], 0.0)
            np.testing.assert_allclose(rows.q[i], alone.q, rtol=0, atol=1e-11)
            np.testing.assert_allclose(rows.v[i], alone.v, rtol=0, atol=1e-9)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"q": {"crank_pivot": [0.1, 0.2], "crank_pin": [1, 2, 3]}}, "q has 2 and 3 values by name: give one for each run"),
            ({"q": {"crank_pivot": [[0.1]]}}, r"q of 'crank_pivot' must be a number, or one for each run; it has shape \(1, 1\)"),
            ({"v": {"crank_pivot": ["fast"]}}, "v of 'crank_pivot' must be a number, or one for each run; it is"),
            ({"v": {"crank": 1.0}}, "v has 'crank', which is not a coordinate"),
        ],
    )  # fmt: skip
    def test_rows_that_make_no_sense_are_refused(self, four_bar, given, message):
        with pytest.raises(StateError, match=message):
            bc.simulate_many(four_bar, 0.1, **given)


def _stacked(rows):
    """Rows of single runs as simulate_many takes them."""
    stacked = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        named = isinstance(values[0], dict)
        stacked[name] = {key: [x[key] for x in values] for key in values[0]} if named else np.array(values)
    return stacked
