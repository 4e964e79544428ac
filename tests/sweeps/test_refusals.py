"""Sweeps that make no sense are refused, with what to do instead."""

from __future__ import annotations

import shutil
import sys

import pytest

import bellcrank as bc
from bellcrank.errors import Interrupted, MissingExtraError, StateError, StudyError
from bellcrank.studies.study.spec import Case, Study
from bellcrank.studies.study.variations import Listed, Lognormal, Normal, Triangular
from bellcrank.studies.sweeps import running, store
from tests.sweeps.test_sweeps import same, swept


@pytest.fixture(scope="module")
def pendulum():
    return bc.load("double_pendulum")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chunk": 65}, "a multiple of 64"),
        ({"colour": "red"}, "no option 'colour'"),
        ({"scheduler": 3}, "address of a Dask scheduler"),
        ({"outputs": "tip.x"}, "must be a list"),
        ({"outputs": ()}, "no outputs"),
        ({"parameters": {"upper.mass": "heavy"}}, "does not describe a parameter"),
        ({"parameters": {"duration": [1.0, 2.0]}}, "cannot vary"),
        ({"parameters": {"upper.mass": []}}, "has no values"),
        ({"parameters": {"upper.mass": (2.0, 1.0)}}, "Give a min below max"),
        ({"parameters": {"upper.mass": Triangular(100.0, 200.0)}}, "is 14.59, outside min and max"),
        ({"parameters": {"initial.elbow.q.0": Lognormal(0.1)}}, "must be more than zero"),
        ({"parameters": {"upper.mass": Normal(-1.0)}}, "deviation is -1"),
        ({"parameters": {"initial.elbow.q.0": [0.1]}, "q": {"elbow": 0.2}}, "has no effect where q names"),
        ({"parameters": {"upper.mass": (1.0, 2.0)}, "runs": 2, "seed": -1}, "seed is -1"),
        ({"outputs": {"x" * 300: "elbow.q@end"}}, "too long a name"),
        ({"method": "eulr"}, "no method 'eulr'"),
        ({"projection": "sideways"}, "projection is 'sideways'"),
        ({"max_step": -1.0}, "max_step must be a positive number"),
        ({"q": {"knee": 1.0}}, "q has 'knee'"),
        ({"q": [0.1, 0.2]}, "goes by name"),
        ({"outputs": {"v": "elbow.v@end"}, "trajectories": True}, "for something else"),
        ({"outputs": {"a\0": "elbow.v@end"}}, "no file can have"),
        ({"outputs": [1]}, "named by text"),
        ({"parameters": {"upper.mass": ["heavy"]}}, 'not describe a parameter, "upper.mass"'),
        ({"parameters": {"upper.mass": (1.0, float("inf"))}, "runs": 2}, "both finite"),
        ({"parameters": {"upper.mass": (1.0, 2.0)}, "runs": 2**31}, "at most 1,073,741,824"),
        ({"parameters": {"upper.mass": (1.0, 2.0)}, "runs": "2"}, "runs is '2'"),
        ({"parameters": {"upper.mass": (1.0, 2.0)}, "runs": 2, "seed": "a"}, "seed is 'a'"),
        ({"chunk": "64"}, "chunk is '64'"),
        ({"chunk": 2**50}, "at most 1,099,511,627,776"),
        ({"store": 3}, "the path of a folder"),
        ({"progress": 3}, "takes a Progress"),
        ({"parameters": {3: [1.0]}}, "named by text, such as 'upper.mass'; one is 3"),
        ({"parameters": ["upper.mass"]}, "parameters go by name"),
        ({"parameters": {"upper.mass": [True]}}, "does not describe a parameter"),
        ({"parameters": {"upper.mass": ("12", "13")}}, "does not describe a parameter"),
        ({"parameters": {"upper.mass": [1.0, float("nan")]}}, '"upper.mass": one of its values is nan. Give a finite number'),
        ({"parameters": {"upper.mass": Normal(1.0, mean=float("inf"))}, "runs": 2}, "its mean is inf"),
        ({"parameters": {"upper.mass": Normal("1")}, "runs": 2}, "its deviation is '1'"),
        (
            {"parameters": {"upper.mass": Normal(1.0, min=200.0, max=300.0)}, "runs": 2},
            "too many deviations of 1 from its mean, 14.59",
        ),
        (
            {"parameters": {"upper.mass": Lognormal(0.1, median=-1.0)}, "runs": 2},
            "its median is -1, and must be more than zero",
        ),
        ({"q": {"elbow": "a"}}, "q of 'elbow' must be a finite number, the same for all runs; it is 'a'"),
        ({"q": {"elbow": [0.1, 0.2]}}, r"the same for all runs; it is \[0.1, 0.2\]"),
        ({"v": {"elbow": float("nan")}}, "v of 'elbow' must be a finite number"),
        ({"inputs": {"throttle": 1.0}}, "no input 'throttle'"),
        ({"store": ""}, "the path of a folder"),
        ({"duration": 1e15}, "takes more memory than there is"),
        ({"scheduler": "nowhere"}, "no Dask scheduler answers at nowhere"),
    ],
)
def test_options_that_do_not_fit_are_refused(pendulum, options, words):
    given = {"parameters": {"upper.mass": [1.0]}, "outputs": ["elbow.q@end"], "duration": 0.1} | options
    with pytest.raises((StateError, StudyError), match=words):
        bc.sweep(pendulum, **given)


def test_what_is_no_study_is_refused():
    with pytest.raises(StateError, match="given an object of type int"):
        bc.sweep(3)


def test_a_disk_that_is_full_leaves_what_is_finished(pendulum, tmp_path, monkeypatch):
    """There is no room for the last file of the second chunk, the status."""
    path, replace = tmp_path / "full.zarr", store.replace

    def no_room(path, write, **options):
        if path.parts[-3:] == ("status", "c", "1"):
            raise OSError(28, "No space left on device")
        replace(path, write, **options)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(store, "replace", no_room)
        with pytest.raises(StudyError, match=r"cannot be written \(No space left on device\)"):
            swept(pendulum, path, chunk=64)
    assert bc.load_sweep(path).store.finished().tolist() == [True, False, False]
    same(swept(pendulum, path), swept(pendulum))


def test_an_interrupt_in_a_run_by_itself_ends_the_sweep_and_is_no_row(pendulum, tmp_path, monkeypatch):
    def pressed(*_, **__):
        raise Interrupted("interrupted at t = 0.1 s", None)

    monkeypatch.setattr("bellcrank.studies.sweeps.runners.simulate", pressed)
    with pytest.raises(bc.SimulationError, match="interrupted when 0 of 9 runs were finished"):
        swept(pendulum, tmp_path / "store", runs=9, method="gauss4", max_step=0.1)
    assert not bc.load_sweep(tmp_path / "store").store.finished().any()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("zarr.json", '"runs": 64', '"runs": 1e9'),
        ("zarr.json", '"chunk": 64', '"chunk": []'),
        ("zarr.json", "{", "["),
        ("zarr.json", '"zarr_format": 3', '"zarr_format": 2'),
        ("left/zarr.json", '"float64"', '"int8"'),
        ("left/zarr.json", '"chunk_shape"', '"shape_of_chunks"'),
        ("status/zarr.json", "int8", "no type"),
        ("left/c/0", None, "x"),
        ("reason/zarr.json", None, None),
    ],
)
def test_a_store_that_is_damaged_is_refused_in_our_words(pendulum, tmp_path, file, old, new):
    swept(pendulum, tmp_path / "store", runs=64, chunk=64)
    path = tmp_path / "store" / file
    if new is None:
        path.unlink()
    else:
        before = path.read_text() if old else ""
        path.write_text(before.replace(old, new, 1) if old else new)
        assert path.read_text() != before
    with pytest.raises(StudyError, match="there is no sweep|damaged|does not belong to a sweep"):
        bc.load_sweep(tmp_path / "store").summary()


def test_cases_of_a_sweep_have_one_duration(pendulum):
    study = Study(
        pendulum,
        {"upper.mass": Listed((1.0,))},
        duration=0.1,
        outputs={"v": "elbow.v@end"},
        cases=(Case("long", duration=0.2),),
    )
    with pytest.raises(StudyError, match='case "long" has a duration of its own'):
        bc.sweep(study)


def test_a_store_of_another_sweep_is_refused(pendulum, tmp_path):
    path = tmp_path / "one.zarr"
    swept(pendulum, path, runs=8)
    with pytest.raises(StudyError, match="holds another sweep"):
        swept(pendulum, path, runs=16)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(StudyError, match="contains other files"):
        swept(pendulum, tmp_path / "full", runs=8)
    with pytest.raises(StudyError, match="is a file"):
        swept(pendulum, tmp_path / "full" / "letter.txt", runs=8)
    with pytest.raises(StudyError, match="cannot be read or written: Not a directory"):
        swept(pendulum, tmp_path / "full" / "letter.txt" / "inside", runs=8)
    with pytest.raises(StudyError, match="there is no sweep"):
        bc.load_sweep(tmp_path / "nothing")
    with pytest.raises(StudyError, match='design="saltelli"'):
        bc.load_sweep(path).sobol_indices("left")


def test_a_damaged_store_says_what_to_remove(pendulum, tmp_path):
    """Two bytes of a chunk change; an array is gone; the description of the store is cut off."""
    path = tmp_path / "damaged.zarr"
    whole = swept(pendulum, path, runs=70, chunk=64)
    file = path / "left" / "c" / "0"
    content = file.read_bytes()
    file.write_bytes(content[:100] + bytes(x ^ 1 for x in content[100:102]) + content[102:])
    with pytest.raises(StudyError, match=r"'left' of runs 0 to 63 cannot be read .* Remove .*status/c/0, and sweep again"):
        whole.values("left")
    (path / "status" / "c" / "0").unlink()
    same(swept(pendulum, path, runs=70), swept(pendulum, runs=70))
    shutil.rmtree(path / "left")
    with pytest.raises(StudyError, match="is damaged, .*: it has no 'left'. Remove it"):
        swept(pendulum, path, runs=70)
    (path / "zarr.json").write_text("{")
    with pytest.raises(StudyError, match=r"zarr.json cannot be read .* Remove it"):
        swept(pendulum, path, runs=70)


def test_a_store_in_which_nothing_is_finished_is_replaced(pendulum, tmp_path):
    path = tmp_path / "begun.zarr"
    swept(pendulum, path, runs=8)
    (path / "status" / "c" / "0").unlink()
    same(swept(pendulum, path, runs=16), swept(pendulum, runs=16))


def test_a_study_has_its_own_parameters(pendulum):
    with pytest.raises(StateError, match="a study has its own"):
        bc.sweep("study.toml", {"upper.mass": [1.0]})


def test_a_store_begun_on_another_processor_says_so(pendulum, tmp_path, monkeypatch):
    path = tmp_path / "moved.zarr"
    swept(pendulum, path, runs=8)
    here = running.machine_here()
    monkeypatch.setattr(running, "machine_here", lambda: here | {"processor": "another"})
    with pytest.warns(bc.BellcrankWarning, match="another type of processor"):
        swept(pendulum, path, runs=8)


def test_what_is_not_installed_is_named_with_its_command(pendulum, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingExtraError, match=r'pip install "bellcrank\[cluster\]"'):
        swept(pendulum, runs=8)


def test_a_zarr_whose_files_may_be_half_written_is_refused(pendulum, monkeypatch):
    monkeypatch.setattr("zarr.__version__", "3.1.2")
    with pytest.raises(MissingExtraError, match=r"half written .* pip install \"zarr>=3.1.3\""):
        swept(pendulum, runs=8)
