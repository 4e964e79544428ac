"""Object code on disk: hits, damage, races, bounds, and folders that cannot be used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from bellcrank.dynamics import Dynamics
from bellcrank.errors import BellcrankWarning
from bellcrank.kernels import cache, jit
from bellcrank.machine import kernel
from bellcrank.model.generators import chain, pin_joint_chain, random_state, random_tree

MODEL = pin_joint_chain(3)
Q, V = random_state(MODEL, 1)


@pytest.fixture
def start(monkeypatch):
    """As in a new process: nothing is loaded."""

    def start():
        monkeypatch.setattr(kernel, "_loaded", {})

    start()
    return start


@pytest.fixture
def folder(tmp_path, monkeypatch, start):
    place = tmp_path / "cache"
    monkeypatch.setenv("BELLCRANK_CACHE", str(place))
    return place / "bellcrank-code-1"


def entries(folder):
    return sorted(folder.glob("*"))


def stored(folder, letter):
    return folder / f"{64 * letter}.bellcrank"


def refuse(*arguments):
    raise AssertionError("nothing should be traced or compiled here")


def test_a_hit_gives_the_same_code_without_tracing(folder, start, monkeypatch):
    first = Dynamics(MODEL).acceleration(Q, V)
    (entry,) = entries(folder)
    content = entry.read_bytes()
    start()
    monkeypatch.setattr(kernel, "write_module", refuse)
    monkeypatch.setattr(jit, "compile_text", refuse)
    np.testing.assert_array_equal(Dynamics(MODEL).acceleration(Q, V), first)
    assert entry.read_bytes() == content


def test_code_that_is_loaded_already_is_shared(folder, monkeypatch):
    Dynamics(MODEL)
    monkeypatch.setattr(cache, "fetch", refuse)
    monkeypatch.setattr(kernel, "write_module", refuse)
    Dynamics(MODEL)


def test_models_of_one_structure_share_an_entry_and_others_do_not(folder, start):
    """A chain of 50 has the code of a chain of 5, with other numbers; a tree has its own."""
    for n in (5, 50):
        start()
        model = pin_joint_chain(n, seed=n)
        Dynamics(model).acceleration(*random_state(model))
    assert len(entries(folder)) == 1
    Dynamics(random_tree(5, 3))
    Dynamics(MODEL, "reference_point", reference="centroid")
    assert len(entries(folder)) == 3


@pytest.mark.parametrize("part", ["processor", "sources", "lanes", "program"])
def test_an_entry_is_keyed_by_all_that_its_code_depends_on(part, folder, start, monkeypatch):
    Dynamics(MODEL)
    start()
    if part == "processor":
        monkeypatch.setattr(jit, "identity", lambda: "another processor")
    if part == "sources":
        monkeypatch.setattr(cache, "sources", lambda: "other sources")
    if part == "lanes":
        Dynamics(MODEL).acceleration(np.tile(Q, (8, 1)), np.tile(V, (8, 1)))
    Dynamics(MODEL, "mass_matrix" if part == "program" else "auto")
    assert len(entries(folder)) == 2


def halved(content):
    return content[: len(content) // 2]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "truncated": halved,
    "empty": lambda content: b"",
    "one bit flipped": flipped,
    "only its header": lambda content: content[:17],
    "something else": lambda content: b"\x7fELF" + bytes(1000),
    "another version": lambda content: content.replace(b"code 1", b"code 9", 1),
    "extended": lambda content: content + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_compiled_again(damage, folder, start):
    expected = Dynamics(MODEL).acceleration(Q, V)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    start()
    np.testing.assert_array_equal(Dynamics(MODEL).acceleration(Q, V), expected)
    assert cache._unpack(entry.stem, entry.read_bytes()) == cache._unpack(entry.stem, whole)


def test_a_damaged_entry_that_cannot_be_removed_is_no_crash(folder, start, monkeypatch):
    Dynamics(MODEL)
    (entry,) = entries(folder)
    entry.write_bytes(b"damaged")
    start()

    def no_permission(*arguments, **options):
        raise PermissionError("read-only")

    monkeypatch.setattr(Path, "unlink", no_permission)
    assert cache.fetch(entry.stem) is None
    assert np.isfinite(Dynamics(MODEL).acceleration(Q, V)).all()


def test_a_folder_that_can_only_be_read_still_serves(folder, start, monkeypatch):
    Dynamics(MODEL)
    start()

    def no_permission(*arguments, **options):
        raise PermissionError("read-only")

    monkeypatch.setattr(os, "utime", no_permission)
    monkeypatch.setattr(kernel, "write_module", refuse)
    Dynamics(MODEL)


RACER = """
import numpy as np
from bellcrank.dynamics import Dynamics
from bellcrank.model.generators import pin_joint_chain, random_state
model = pin_joint_chain(4)
print(Dynamics(model).acceleration(*random_state(model, 1)).tobytes().hex())
"""


def test_processes_may_race_for_the_same_entry(folder):
    source = str(Path(cache.__file__).parents[2])
    environment = os.environ | {"BELLCRANK_CACHE": str(folder.parent), "PYTHONPATH": source}
    command = [sys.executable, "-W", "error", "-c", RACER]
    racers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {racer.communicate()[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0, 0] and len(answers) == 1
    assert [path.suffix for path in entries(folder)] == [".bellcrank"]
    (entry,) = entries(folder)
    assert cache._unpack(entry.stem, entry.read_bytes()) is not None


def test_the_folder_is_bounded_and_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    facts, code = {"work_row": 1, "message_row": 1}, bytes(1000)
    for k, name in enumerate("abcd"):
        cache.store(64 * name, facts, code)
        os.utime(stored(folder, name), (1e9 + k, 1e9 + k))
    size = stored(folder, "a").stat().st_size
    assert cache.fetch(64 * "a") is not None  # now the youngest
    monkeypatch.setattr(cache, "_LARGEST", 3 * size)
    cache.store(64 * "e", facts, code)
    assert entries(folder) == [stored(folder, name) for name in "ade"]


def test_nothing_is_removed_that_is_not_an_entry(folder, monkeypatch):
    """Neither what others keep in the folder that the user named, nor what they put into ours."""
    cache.store(64 * "a", {}, bytes(1000))
    others = [folder.parent / "theirs.o", folder.parent / "theirs.tmp", folder / "theirs.o", folder / "theirs.bellcrank"]
    for other in others:
        other.write_bytes(bytes(10**6))
        os.utime(other, (1e9, 1e9))
    monkeypatch.setattr(cache, "_LARGEST", 1)
    cache.store(64 * "b", {}, bytes(1000))
    assert all(other.exists() for other in others) and not stored(folder, "a").exists()


def test_an_entry_under_the_name_of_another_is_compiled_again_and_never_run(folder, start):
    expected = Dynamics(MODEL).acceleration(Q, V)
    (entry,) = entries(folder)
    start()
    Dynamics(MODEL, "mass_matrix")
    (other,) = set(entries(folder)) - {entry}
    shutil.copyfile(other, entry)
    assert cache.fetch(entry.stem) is None and cache.fetch(other.stem) is not None
    shutil.copyfile(other, entry)
    start()
    np.testing.assert_array_equal(Dynamics(MODEL).acceleration(Q, V), expected)
    assert entry.read_bytes() != other.read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_an_entry_that_is_a_pipe_or_a_link_is_not_opened(folder, tmp_path):
    folder.mkdir(parents=True)
    os.mkfifo(stored(folder, "a"))
    (tmp_path / "elsewhere").write_bytes(cache._pack(64 * "b", {}, b""))
    stored(folder, "b").symlink_to(tmp_path / "elsewhere")
    assert cache.fetch(64 * "a") is cache.fetch(64 * "b") is None


@pytest.mark.parametrize("facts", [b"{", b"[]", b""])
def test_an_entry_whose_facts_cannot_be_read_is_no_entry(facts):
    body = facts + b"\n" + bytes(10)
    assert cache._unpack("a", cache._HEADER + cache._digest("a", body) + b"\n" + body) is None


def test_the_folder_is_looked_through_at_first_and_then_now_and_then(folder, monkeypatch):
    looks = []
    monkeypatch.setattr(cache, "_trim", looks.append)
    monkeypatch.setattr(cache, "_LARGEST", 160_000)  # a look every 10,000 bytes
    for k in range(22):
        cache.store(str(k), {}, bytes(1000))
    assert looks == [folder, folder, folder]


def test_what_a_crash_left_behind_goes(folder, monkeypatch):
    cache.store(64 * "a", {}, bytes(1000))
    left = folder / f".bellcrank-{24 * '0'}.tmp"
    left.write_bytes(bytes(10**6))
    os.utime(left, (1e9, 1e9))
    monkeypatch.setattr(cache, "_LARGEST", 10000)
    cache.store(64 * "b", {}, bytes(1000))
    assert [path for path in folder.iterdir() if path == left] == [] and len(entries(folder)) == 2


def test_a_write_that_fails_leaves_nothing_behind(folder, monkeypatch):
    def full(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(BellcrankWarning, match="no space left"):
        assert np.isfinite(Dynamics(MODEL).acceleration(Q, V)).all()
    assert entries(folder) == []


def test_a_folder_that_cannot_be_written_is_one_warning_and_works(tmp_path, start, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    monkeypatch.setenv("BELLCRANK_CACHE", str(occupied))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        dynamics = Dynamics(MODEL)
        assert np.isfinite(dynamics.acceleration(Q, V)).all()
        dynamics.energy(Q, V)
    assert [warning.category for warning in caught] == [BellcrankWarning]
    text = str(caught[0].message)
    assert str(occupied) in text and "Set BELLCRANK_CACHE" in text


def test_off_keeps_nothing(tmp_path, start, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for word in ("off", "Off", "no", "None", "FALSE", "0 ", "0"):
        monkeypatch.setenv("BELLCRANK_CACHE", word)
        assert cache.folder() is None
    assert np.isfinite(Dynamics(MODEL).acceleration(Q, V)).all()
    assert entries(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_code_that_someone_else_put_there_is_not_run(folder, start, monkeypatch):
    Dynamics(MODEL)
    (entry,) = entries(folder)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert cache.fetch(entry.stem) is None and entry.exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_the_folder_is_private(folder):
    Dynamics(MODEL)
    assert folder.stat().st_mode & 0o077 == 0 and entries(folder)[0].stat().st_mode & 0o077 == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the home of other systems is not known there")
@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        (Unix, {"XDG_CACHE_HOME": "/x"}, "/x/bellcrank/bellcrank-code-1"),
        (Unix, {"XDG_CACHE_HOME": ""}, "/h/.cache/bellcrank/bellcrank-code-1"),
        (MacOS, {}, "/h/Library/Caches/bellcrank/bellcrank-code-1"),
        (Unix, {"BELLCRANK_CACHE": "/b"}, "/b/bellcrank-code-1"),
        (Unix, {"BELLCRANK_CACHE": "a/b"}, "a/b/bellcrank-code-1"),
        (Unix, {"BELLCRANK_CACHE": "1"}, "/h/.cache/bellcrank/bellcrank-code-1"),
        (Unix, {"BELLCRANK_CACHE": "True"}, "/h/.cache/bellcrank/bellcrank-code-1"),
        (Unix, {"BELLCRANK_CACHE": ""}, "/h/.cache/bellcrank/bellcrank-code-1"),
    ],
)
def test_the_folder_is_where_the_system_keeps_caches(system, environment, expected, monkeypatch):
    monkeypatch.delenv("BELLCRANK_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(platformdirs, "PlatformDirs", system)
    for name, value in ({"HOME": "/h"} | environment).items():
        monkeypatch.setenv(name, value)
    assert cache.folder() == Path(expected)


FOLDERS = ("numbers", "spatial", "joints", "forces", "constraints", "plan", "formulations", "kernels", "machine", "integrate")


def test_a_change_of_any_source_that_decides_the_code_changes_the_key(tmp_path, monkeypatch):
    copy = tmp_path / "bellcrank"
    shutil.copytree(Path(cache.__file__).parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "__file__", str(copy / "kernels" / "cache.py"))
    digests = {cache.sources.__wrapped__()}
    assert digests == {cache.sources()}
    for changed in [*(f"{folder}/__init__.py" for folder in FOLDERS), "machine/nodes/walk.py"]:
        with (copy / changed).open("a") as file:
            file.write("# changed")
        digests.add(cache.sources.__wrapped__())
    assert len(digests) == 2 + len(FOLDERS)
    assert cache.key("a") != cache.key("b")


def test_the_tests_leave_the_users_cache_alone(folder_of_compiled_code):
    Dynamics(chain(2))
    assert cache.folder().parent == folder_of_compiled_code
