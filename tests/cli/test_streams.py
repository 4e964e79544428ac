"""Streams that do not take everything, names that mean harm, interrupts: words and exit codes, never a traceback."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.comparison import methods
from bellcrank.errors import ModelError, visible
from bellcrank.machine.steps.trajectory import Trajectory
from bellcrank.terminal import PlainConsole

posix = pytest.mark.skipif(sys.platform == "win32", reason="devices, pipes and signals of POSIX")
NAME = r"\u001b[31mr\u00e9\u2192[/x] [red]b\u009b2J\u202e"


def command(*words, encoding="utf-8", folder=None, **options):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    full = [sys.executable, "-m", "bellcrank.cli", *map(str, words)]
    return subprocess.run(full, env=environment, cwd=folder, stderr=subprocess.PIPE, timeout=120, **options)


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A model whose name holds escape sequences; it and a body's name, markup and letters that few encodings have."""
    path = tmp_path_factory.mktemp("odd") / "odd.toml"
    text = bc.gallery()["pendulum"].read_text(encoding="utf-8")
    text = text.replace("simple pendulum", NAME).replace("[bodies.pendulum]", '[bodies."\u2192 [/x]"]')
    path.write_text(text.replace('child = "pendulum"', 'child = "\u2192 [/x]"'), encoding="utf-8")
    return path


def has_replacements(printed, encoding):
    text = printed.decode(encoding)
    assert "[/x] [red]b?2J?" in text and not set(text) & set("\x1b\x9b\u202e")
    assert (b"\xe9" in printed) == (encoding == "cp1252")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_names_that_do_not_fit_are_printed_with_replacements(encoding, odd, tmp_path):
    done = command("check", odd, encoding=encoding, folder=tmp_path, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    has_replacements(done.stdout, encoding)


@pytest.mark.parametrize("words", [["run", "--no-plot"], ["equilibrium"], ["assemble"], ["ops"], ["convert", "b.toml"]])
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_by_every_command(words, encoding, odd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    with pytest.raises(SystemExit) as end:
        main([words[0], str(odd), *words[1:]])
    assert end.value.code in (0, None)
    has_replacements(sys.stdout.buffer.getvalue(), encoding)


def test_errors_and_warnings_hold_no_control_characters(tmp_path):
    (tmp_path / "bad.toml").write_text('format = 1\nname = "x"\n"\\u001b]0;title\\u0007" = 1\n', encoding="utf-8")
    done = command("check", "bad.toml", folder=tmp_path, stdout=subprocess.DEVNULL)
    assert done.returncode == 2 and b"title" in done.stderr and not set(done.stderr) & {0x1B, 0x07}


def test_markup_and_escapes_are_shown_literally_also_in_colour():
    console = PlainConsole(force_terminal=True, width=60, highlight=False)
    with console.capture() as capture:
        console.print("[/x] \x1b[2J [red]red", style="bold")
    assert "[/x] \ufffd[2J [red]red" in capture.get()
    assert visible("a\x1b\x9b\r\u202eb\n\tc\u00e9") == "a" + 4 * "\ufffd" + "b\n\tc\u00e9"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("words", [["check", "pendulum"], ["check", "pendulum", "--json"], ["--help"], ["--version"]])
def test_a_stdout_that_is_full_is_told_and_is_no_success(words):
    with open("/dev/full", "w") as full:
        done = command(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().strip() == "error: cannot write to stdout: No space left on device"


@posix
def test_a_reader_that_has_seen_enough_is_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    done = command("models", stdout=writing)
    os.close(writing)
    assert done.returncode == 1 and done.stderr == b""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "pendulum", "--duration", "abc"], "--duration"),
        (["drive", "four_bar", "crank_pivot", "--count", "1"], "--count"),
        (["check"], "MODEL"),
        (["check", "pendulum", "--nope"], "--nope"),
    ],
)
def test_with_json_a_wrong_option_is_json_too(words, said):
    done = command(*words, "--json", stdout=subprocess.PIPE)
    assert done.returncode == 2 and said in json.loads(done.stdout)["error"] and done.stderr == b""


METHODS = ("double_pendulum", "--duration", "1e5", "--step", "10", "--max-step", "0.01", "--methods", "rk4,dopri5")


@posix
@pytest.mark.parametrize("piece", [1, 3])  # of the short run before the first method's own, and of that
def test_methods_that_are_interrupted_keep_what_is_done_and_run_no_other(piece, monkeypatch):
    pieces, advance = [], Trajectory.advance

    def interrupted(trajectory, budget):
        pieces.append(budget)
        advance(trajectory, budget)
        if len(pieces) == piece:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Trajectory, "advance", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = CliRunner().invoke(main, ["methods", *METHODS])
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(pieces) == piece and done.exit_code == 1
    assert "interrupted at t =" in done.output and "dopri5: not run: interrupted before" in done.output


def test_methods_that_are_interrupted_outside_of_a_run_keep_those_before(monkeypatch):
    """In the second method's compiling, say; with nothing done there is nothing to keep."""
    real, begun = methods.simulate, []

    def simulate(model, duration, **options):
        begun.append(options["method"])
        if options["method"] == interrupted:
            raise KeyboardInterrupt
        return real(model, 20.0, **options)

    monkeypatch.setattr(methods, "simulate", simulate)
    interrupted = "dopri5"
    done = CliRunner().invoke(main, ["methods", *METHODS])
    assert done.exit_code == 1 and "rk4 " in done.output and "dopri5: interrupted" in done.output
    interrupted = "rk4"
    assert CliRunner().invoke(main, ["methods", *METHODS]).exit_code == 130 and begun == ["rk4", "rk4", "dopri5", "rk4"]


def test_a_folder_named_like_a_model_of_the_gallery_does_not_hide_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum").mkdir()
    (tmp_path / "balancing").mkdir()
    assert bc.load("pendulum").name == "simple pendulum" and bc.load_study("balancing").cost is not None
    (tmp_path / "results").mkdir()
    with pytest.raises(ModelError, match="results is a folder"):
        bc.load("results")


@posix
@pytest.mark.parametrize("name", ["loop.toml", "loop"])
def test_links_in_a_ring_are_told(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).symlink_to(name)
    with pytest.raises(ModelError, match="cannot be read: Too many levels of symbolic links"):
        bc.load(name)


def test_an_interrupt_anywhere_is_told_with_its_own_code(cli, monkeypatch):
    def load(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(bc, "load", load)
    done = cli("check", "pendulum")
    assert done.exit_code == 130 and "interrupted" in done.output
    assert json.loads(cli("check", "pendulum", "--json").stdout) == {"error": "interrupted"}


def test_a_run_whose_energy_does_not_add_up_warns_in_json_and_on_stderr(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["run", "pendulum", "--method", "rk4", "--step", "1", "--no-plot", "--json"])
    assert done.exit_code == 0 and "the energy balance does not close" in done.stderr
    assert "do not trust this run" in json.loads(done.stdout)["doubt"]
