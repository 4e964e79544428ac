"""Files are written whole or not at all: on a full disk, by threads, after a killed writer, under odd names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.writing import write_whole

# python -B where a disk is full: bytecode that is cut off there would be found by the next process

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and signals of POSIX")

FULL = """
import resource, sys
import bellcrank as bc
run = bc.simulate(bc.load("double_pendulum"), 40.0, step=0.01)
run.summary(), run.reactions
resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
for write, path in zip((run.save, run.to_csv), sys.argv[1:]):
    try:
        write(path)
    except bc.BellcrankError as error:
        print(error)
"""


@posix
def test_on_a_full_disk_results_are_an_error_and_the_old_file_stays(tmp_path):
    paths = [tmp_path / "run.csv", tmp_path / "run.nc"]
    for path in paths:
        path.write_text("old")
    command = [sys.executable, "-B", "-c", FULL, *map(str, reversed(paths))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"cannot write {path}: File too large" for path in reversed(paths)]
    assert {path.read_text() for path in paths} == {"old"} and sorted(tmp_path.iterdir()) == paths


@posix
def test_the_command_says_so_and_ends_with_code_2(tmp_path):
    command = "import resource, bellcrank.cli\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\nbellcrank.cli.main({})"
    words = ["run", "pendulum", "--out", str(tmp_path), "--no-plot"]
    done = subprocess.run([sys.executable, "-B", "-c", command.format(words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "run.nc: File too large" in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


@posix
def test_on_a_full_disk_a_model_file_keeps_what_it_was(tmp_path):
    path = tmp_path / "model.toml"
    bc.save(bc.load("pendulum"), path)
    before = path.read_text()
    code = (
        "import resource, sys, bellcrank as bc\nmodel = bc.load('humanoid')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\nbc.save(model, sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, str(path)], capture_output=True, text=True, timeout=120)
    assert "StateError: cannot write" in done.stderr
    assert path.read_text() == before and list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from bellcrank.writing import write_whole
def write(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    {then}
write_whole(sys.argv[1], write, keep=False)
"""


@posix
def test_what_a_killed_writer_left_is_removed_by_the_next_one_and_what_another_is_writing_is_not(tmp_path):
    path = tmp_path / "file.txt"
    killed = KILLED.format(then="os.kill(os.getpid(), signal.SIGKILL)")
    assert subprocess.run([sys.executable, "-c", killed, str(path)], stdout=subprocess.DEVNULL).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    waiting = [sys.executable, "-c", KILLED.format(then="sys.stdin.read()"), str(path)]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"writing\n"
        assert not left.exists()
        (busy,) = tmp_path.iterdir()
        write_whole(path, lambda file: file.write(b"mine"), keep=False)
        assert busy.exists() and path.read_bytes() == b"mine"
    assert path.read_bytes() == b"half" and list(tmp_path.iterdir()) == [path]


def test_threads_may_write_the_same_file(tmp_path):
    path = tmp_path / "model.toml"
    models = [bc.load("pendulum"), bc.load("double_pendulum")]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: bc.save(models[k % 2], path), range(64)))
    assert bc.load(path).name in {model.name for model in models}
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_links_that_wait_beside_the_file_are_not_followed(tmp_path, monkeypatch):
    """Neither one under the name that has been chosen, nor one that looks like a leftover."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    names = iter(["0" * 24, "1" * 24])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(names))
    link = tmp_path / f".bellcrank-{'0' * 24}.tmp"
    link.symlink_to(victim)
    write_whole(tmp_path / "file", lambda file: file.write(b"new"), keep=False)
    assert victim.read_text() == "precious" and link.is_symlink()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("n" * 300, "n\\.\\.\\.: File name too long"),
        ("zero\0byte.toml", "'.*zero.x00byte.toml': embedded null"),
        ("in/side", ""),
    ],
)
def test_names_that_no_file_can_have_are_told_before_anything_is_written(name, words, tmp_path):
    def never(file):
        raise AssertionError

    (tmp_path / "in").write_text("a file")
    with pytest.raises(StateError, match=f"cannot write .*{words}"):
        write_whole(tmp_path / name, never, keep=False)
    for use in (lambda: write_whole(5, never, keep=False), lambda: bc.load_run(5)):
        with pytest.raises(StateError, match="by its path, not by an object of type int"):
            use()


@posix
def test_pipes_devices_and_folders_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    (tmp_path / "folder").mkdir()
    before = {path: os.lstat(path).st_mode for path in tmp_path.iterdir()}
    for path in before:
        with pytest.raises(StateError, match=f"cannot write {path}: it is (not a regular file|a folder)"):
            write_whole(path, lambda file: file.write(b"x"), keep=False)
    assert {path: os.lstat(path).st_mode for path in tmp_path.iterdir()} == before


def test_a_new_file_has_the_permissions_that_new_files_have(tmp_path):
    (tmp_path / "plain").write_text("")
    write_whole(tmp_path / "file", lambda file: file.write(b""), keep=False)
    assert os.stat(tmp_path / "file").st_mode == os.stat(tmp_path / "plain").st_mode
