"""What a user of ``bellcrank ops`` sees."""

import json

from typer.testing import CliRunner

from bellcrank.cli import main


def bellcrank(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_published_counts_stand_beside_ours():
    shown = bellcrank("ops", "--paper")
    assert shown.exit_code == 0
    rows = json.loads(bellcrank("ops", "--paper", "--json").stdout)["rows"]
    assert {"Rein", "Naudet", "articulated_body", "canonical_momenta:joint"} <= {row["algorithm"] for row in rows}
    for row in rows:
        assert row["algorithm"] in shown.output
        assert row["total"] in shown.output


def test_the_papers_chain_is_no_model_of_the_user():
    for arguments in (("double_pendulum",), ("--joint", "spherical")):
        result = bellcrank("ops", *arguments, "--paper")
        assert result.exit_code == 2
        assert "--paper counts the papers' chain" in result.output


def test_a_model_is_counted_in_all_formulations():
    counts = json.loads(bellcrank("ops", "double_pendulum", "--json").stdout)["counts"]
    assert counts["canonical_momenta:joint"]["total"] < counts["articulated_body"]["total"]
    assert "canonical_momenta:origin" in bellcrank("ops", "double_pendulum").output
