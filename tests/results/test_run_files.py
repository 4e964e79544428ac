"""A run goes to a file whole, and comes back as it was."""

from __future__ import annotations

import os
from contextlib import suppress

import numpy as np
import pytest
import xarray as xr

import bellcrank
from bellcrank.errors import BellcrankWarning, DynamicsError, StateError
from bellcrank.results import Run, load_run

ARRAYS = ("time", "q", "v", "a", "reactions", "positions", "rotations")


def test_a_saved_run_comes_back_with_all_its_arrays(make_run, tmp_path):
    run = make_run("free", "revolute")
    back = load_run(run.save(tmp_path / "run.nc"))
    for name in ARRAYS:
        assert getattr(back, name).identical(getattr(run, name)), name
    assert back.energy.identical(run.energy)
    assert back.momentum.identical(run.momentum)
    assert back.settings == run.settings
    assert back.summary() == run.summary()


def test_a_loaded_run_needs_no_model(make_run, tmp_path, compiled):
    make_run().save(tmp_path / "run.nc")
    compiled.clear()
    back = Run.load(tmp_path / "run.nc")
    assert back.model is None
    back.plot()
    assert compiled == []
    with pytest.raises(StateError, match="without its model, and has no Dynamics"):
        back.dynamics


def test_why_a_run_stopped_is_in_the_file(make_run, tmp_path):
    reason = 'NaN at t = 3.2 s, joint "elbow"'
    assert load_run(make_run(stopped=reason).save(tmp_path / "run.nc")).stopped == reason


def test_any_netcdf_reader_finds_names_units_and_version(make_run, tmp_path):
    make_run().save(tmp_path / "run.nc")
    data = xr.load_dataset(tmp_path / "run.nc")
    assert data.q.coordinate.values.tolist() == ["j0", "j1"]
    assert data.q_unit.values.tolist() == ["m", "rad"]
    assert data.kinetic.units == "J"
    assert data.attrs["bellcrank_version"] == bellcrank.__version__
    assert data.attrs["model"] == "cart"


def test_runs_without_samples_or_without_freedom_are_saved_too(make_run, tmp_path):
    assert load_run(make_run(samples=0).save(tmp_path / "empty.nc")).q.shape == (0, 2)
    assert load_run(make_run("fixed").save(tmp_path / "fixed.nc")).q.shape == (201, 0)


def test_an_existing_file_is_replaced_unless_it_is_to_be_kept(make_run, tmp_path):
    path = tmp_path / "run.nc"
    make_run().save(path)
    with pytest.raises(StateError, match=r"run.nc exists already, and keep=True"):
        make_run(samples=5).save(path, keep=True)
    assert load_run(path).time.size == 201
    make_run(samples=5).save(path)
    assert load_run(path).time.size == 5


def test_a_failed_save_leaves_the_old_file_and_no_rubbish(make_run, tmp_path, monkeypatch):
    path = make_run().save(tmp_path / "run.nc")

    def full_disk(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(StateError, match=r"cannot write .*run.nc: No space left on device"):
        make_run(samples=5).save(path)
    assert load_run(path).time.size == 201
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(make_run, tmp_path):
    with pytest.raises(StateError, match=r"cannot write .*nowhere"):
        make_run().save(tmp_path / "nowhere" / "run.nc")


def test_what_cannot_be_derived_is_left_out_with_a_warning(make_run, tmp_path, monkeypatch):
    run = make_run()
    monkeypatch.setattr(bellcrank, "compile", _fails)
    with pytest.warns(BellcrankWarning, match=r"saved without kinetic .*no finite answer.*reactions"):
        run.save(tmp_path / "run.nc")
    back = load_run(tmp_path / "run.nc")
    np.testing.assert_array_equal(back.q, run.q)
    with pytest.raises(StateError, match=r"does not hold 'reactions'; to compute it give the model"):
        back.values("reactions")


def _fails(*_, **__):
    raise DynamicsError("no finite answer")


def test_a_loaded_run_computes_more_when_given_the_model(make_run, tmp_path, monkeypatch):
    run = make_run()
    with monkeypatch.context() as patch:
        patch.setattr(bellcrank, "compile", _fails)
        with pytest.warns(BellcrankWarning):
            run.save(tmp_path / "run.nc")
    assert Run.load(tmp_path / "run.nc", run.model).reactions.identical(run.reactions)


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(StateError, match=r"no.nc: no such file"):
        load_run(tmp_path / "no.nc")


def test_a_file_that_is_no_netcdf_is_refused(tmp_path):
    (tmp_path / "text.nc").write_text("hello")
    with pytest.raises(StateError, match=r"text.nc is not a NetCDF file, or is damaged"):
        load_run(tmp_path / "text.nc")


def test_a_netcdf_file_of_someone_else_is_refused(tmp_path):
    xr.Dataset({"q": ("time", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(StateError, match=r"other.nc was not written by Run.save"):
        load_run(tmp_path / "other.nc")


def test_a_file_of_a_later_version_asks_for_it(tmp_path):
    xr.Dataset(attrs={"bellcrank_run": 99}).to_netcdf(tmp_path / "new.nc", engine="h5netcdf")
    with pytest.raises(StateError, match=r"format 99, this version reads up to 1"):
        load_run(tmp_path / "new.nc")


CHANGES = {
    "settings": [None, "", "[", "5", "[1]", "null", 3.5],
    "stopped": [None],
    "model": [None],
    "crossings": ["5", "[1]", "null", "{"],
    "bellcrank_run": ["x", [1, 2], 2.5],
}


SUMMARISED = ["q", "v", "a", "kinetic", "potential", "stored", "total", "work", "balance"]
MORE = {"reactions": "reactions", "joint": "reactions", "measures": "measures", "body": "positions"}


def with_few(data, names):
    """All names and units, few arrays: a file takes as long as it has arrays."""
    return data.drop_vars(set(data.data_vars) - set(names))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What a file of a run holds."""
    folder = tmp_path_factory.mktemp("written")
    run = bellcrank.simulate(bellcrank.load("double_pendulum"), 0.1, step=0.05)
    return xr.load_dataset(run.save(folder / "run.nc"), engine="h5netcdf").drop_encoding()


def test_a_file_with_few_of_the_arrays_is_a_run(written, tmp_path):
    """So files that are changed may have few."""
    written[["q", "v", "a"]].to_netcdf(tmp_path / "small.nc", engine="h5netcdf")
    assert load_run(tmp_path / "small.nc").q.shape == (3, 2)
    assert load_run(tmp_path / "small.nc").summary().largest_force.joint in written["joint"]  # of the model in the file
    with_few(written, SUMMARISED).to_netcdf(tmp_path / "summarised.nc", engine="h5netcdf")
    assert str(load_run(tmp_path / "summarised.nc").summary())


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in CHANGES.items() for value in values])
def test_a_file_whose_attributes_were_changed_is_refused(name, value, written, tmp_path):
    data = written[["q", "v", "a"]]
    data.attrs.pop(name)
    data.assign_attrs({} if value is None else {name: value}).to_netcdf(tmp_path / "changed.nc", engine="h5netcdf")
    with pytest.raises(StateError, match=r"changed.nc was not written by Run.save"):
        load_run(tmp_path / "changed.nc")


@pytest.mark.parametrize(
    "name", ["q", "time", "kinetic", "work", "balance", "reactions", "measures", "joint", "q_unit", "body"]
)
def test_a_file_whose_arrays_were_changed_is_refused_or_tells_its_summary(name, written, tmp_path):
    data = with_few(written, [*SUMMARISED, MORE.get(name, name)])
    changed = [data.drop_vars(name), data.assign({name: data[name].astype(str)})]
    changed += [] if name in data.dims else [data.drop_vars(name).assign({name: 5.0})]
    for k, each in enumerate(changed):
        each.to_netcdf(tmp_path / f"{k}.nc", engine="h5netcdf")
        with suppress(StateError):
            str(load_run(tmp_path / f"{k}.nc").summary())


def test_a_damaged_file_is_refused_before_hdf5_sees_it(make_run, tmp_path, monkeypatch):
    path = make_run().save(tmp_path / "run.nc")
    whole = path.read_bytes()
    monkeypatch.setattr(xr, "load_dataset", _fails)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 100):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << rng.integers(8)]) + whole[place + 1 :])
        with pytest.raises((StateError, DynamicsError), match=r"damaged|no finite answer") as caught:
            load_run(path)
        assert caught.type is StateError or place >= len(whole) - 85  # in the digest's own words


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99, 0.999])
def test_a_truncated_file_is_refused(part, make_run, tmp_path):
    path = make_run().save(tmp_path / "run.nc")
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(StateError, match=r"run.nc is not a NetCDF file, or is damaged"):
        load_run(path)


def test_a_path_that_no_file_can_have_is_no_such_file():
    for name in ("n" * 300, "zero\0byte.nc"):
        with pytest.raises(StateError, match="no such file"):
            load_run(name)
