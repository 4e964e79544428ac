"""What a user of ``bellcrank run`` sees: tables, files, messages and exit codes."""

from __future__ import annotations

import json

import pytest


def test_a_good_run_prints_a_summary_and_writes_its_files(cli, tmp_path):
    result = cli("run", "cart.toml")
    assert result.exit_code == 0
    assert "summary of cart" in result.stdout
    assert "wrote run.nc and run.png" in result.stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.nc", "run.png"]


def test_only_the_options_given_reach_simulate(cli, simulated):
    cli("run", "cart.toml")
    cli("run", "cart.toml", "--duration", "2", "--step", "0.1", "--method", "rk4", "--rtol", "1e-6")
    cli("run", "cart.toml", "--formulation", "reference_point", "--reference", "joint", "--atol", "1e-7")
    assert simulated == [
        {},
        {"duration": 2.0, "step": 0.1, "method": "rk4", "rtol": 1e-6},
        {"formulation": "reference_point", "reference": "joint", "atol": 1e-7},
    ]


def test_json_is_one_object_on_stdout(cli):
    result = cli("run", "cart.toml", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "model": "cart",
        "energy_error": 1e-12,
        "stopped": None,
        "files": ["run.nc", "run.png"],
    }


def test_no_plot_means_no_picture(cli, tmp_path):
    assert "wrote run.nc\n" in cli("run", "cart.toml", "--no-plot").stdout
    assert not (tmp_path / "run.png").exists()


def test_a_table_is_written_when_asked_for(cli, tmp_path):
    assert "wrote run.nc, run.png and run.csv\n" in cli("run", "cart.toml", "--csv").stdout
    assert (tmp_path / "run.csv").read_text() == "table"
    kept = cli("run", "cart.toml", "--csv", "--keep").stderr
    assert "run.nc, run.png and run.csv exist already, and --keep does not replace files" in kept


@pytest.mark.parametrize("option", ["--out", "--output-dir"])
def test_results_go_to_the_folder_asked_for_which_is_made(cli, tmp_path, option):
    assert cli("run", "cart.toml", option, "a/b").exit_code == 0
    assert (tmp_path / "a" / "b" / "run.nc").exists()


def test_with_keep_existing_results_stay_and_nothing_is_simulated(cli, simulated, tmp_path):
    (tmp_path / "run.png").write_text("mine")
    result = cli("run", "cart.toml", "--keep")
    assert result.exit_code == 2
    assert "run.png exists already, and --keep" in result.stderr
    assert simulated == []
    assert (tmp_path / "run.png").read_text() == "mine"


def test_a_second_run_replaces_the_results_of_the_first(cli, tmp_path):
    (tmp_path / "run.nc").write_text("old")
    assert cli("run", "cart.toml").exit_code == 0
    assert (tmp_path / "run.nc").read_text() == "data"


def test_a_folder_that_cannot_be_made_is_bad_input(cli, tmp_path, simulated):
    (tmp_path / "file").write_text("")
    result = cli("run", "cart.toml", "--out", "file/results")
    assert result.exit_code == 2
    assert "cannot make the folder file/results" in result.stderr
    assert simulated == []


def test_a_run_that_stops_early_is_saved_and_exits_with_1(cli, tmp_path):
    result = cli("run", "stops.toml")
    assert result.exit_code == 1
    assert "summary of cart" in result.stdout
    assert "stopped early: NaN at t = 3 s" in result.stderr
    assert (tmp_path / "run.nc").exists()


def test_a_run_that_stops_early_says_so_in_json(cli):
    result = cli("run", "stops.toml", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["stopped"] == "NaN at t = 3 s"


def test_a_run_that_never_began_exits_with_1_and_its_message(cli, tmp_path):
    result = cli("run", "breaks.toml")
    assert result.exit_code == 1
    assert "error: no finite acceleration at the start" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bad.toml"], "bad.toml, line 3: the mass of body 'rod' is -1"),
        (["cart.toml", "--method", "euler"], "there is no method 'euler'; choose dopri5 or rk4"),
    ],
)
def test_bad_input_is_a_message_without_a_traceback(cli, words, message):
    result = cli("run", *words)
    assert result.exit_code == 2
    assert result.stderr == f"error: {message}\n"
    assert "Traceback" not in result.output
    as_json = cli("run", *words, "--json")
    assert as_json.exit_code == 2
    assert json.loads(as_json.stdout) == {"error": message}


def test_bad_input_leaves_no_folder_behind(cli, tmp_path):
    assert cli("run", "bad.toml", "--out", "results").exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_is_none_is_bad_input(cli):
    assert cli("run", "cart.toml", "--duration", "long").exit_code == 2


def test_warnings_are_lines_on_stderr(cli):
    result = cli("run", "odd.toml", "--json")
    assert result.exit_code == 0
    assert result.stderr == "warning: odd.toml: joint 'hinge' is unusual\n"
    json.loads(result.stdout)
