"""Pictures and animations are written, whole or not at all, and say by name what they cannot draw."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.viewer.pictures import animation
from bellcrank.viewer.pictures.labels import Label, place_labels
from bellcrank.viewer.recording import Recording

GALLERY = sorted(bc.gallery())


def bellcrank(*words):
    return CliRunner().invoke(main, words)


@pytest.fixture(scope="module")
def four_bar():
    return bc.load("four_bar")


@pytest.fixture(scope="module")
def turning(four_bar):
    return bc.simulate(four_bar, duration=0.3)


def source(name):
    return (Path(__file__).parents[2] / "models" / f"{name}.toml").read_text(encoding="utf-8")


def texts(figure):
    return [text.get_text() for owner in (figure, *figure.axes) for text in owner.texts]


@pytest.mark.parametrize("name", GALLERY)
def test_every_model_of_the_gallery_is_drawn_with_its_joints_named(name):
    model = bc.load(name)
    figure = model.draw()
    written = "\n".join(texts(figure)).split("\n")
    for joint, kind in zip(model.joint_names, model.joints, strict=True):
        assert kind.kind in ("free", "state") or joint in written
    assert model.name in written


@pytest.mark.parametrize("name", ["four_bar", "quarter_car", "humanoid", "strandbeest"])
def test_names_do_not_cover_each_other(name):
    figure = bc.load(name).draw()
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    for k, box in enumerate(boxes):
        for other in boxes[:k]:
            width = min(box.x1, other.x1) - max(box.x0, other.x0)
            height = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(width, height) < 2.0  # pixels


def test_a_metre_is_as_long_across_as_upwards(four_bar):
    figure = four_bar.draw(view="iso")
    figure.draw_without_rendering()
    across, up = (np.diff(figure.axes[0].transData.transform([(0, 0), end]), axis=0)[0] for end in ((1, 0), (0, 1)))
    assert across[0] == pytest.approx(up[1], rel=1e-9)


def test_the_ending_of_the_name_says_the_format(four_bar, tmp_path):
    for ending, beginning in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        file = tmp_path / f"x.{ending}"
        assert isinstance(four_bar.draw(file), Figure)
        assert file.read_bytes().startswith(beginning)
    with pytest.raises(bc.StateError, match="cannot draw .*x.docx: its ending must be one of"):
        four_bar.draw(tmp_path / "x.docx")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.pdf", "x.png", "x.svg"]


def test_a_picture_is_kept_if_asked(four_bar, tmp_path):
    file = tmp_path / "x.png"
    file.write_text("mine")
    with pytest.raises(bc.StateError, match="exists already"):
        four_bar.draw(file, keep=True)
    assert file.read_text() == "mine"


def test_an_unknown_view_is_an_error_that_lists_all(four_bar):
    with pytest.raises(bc.StateError, match="'fromt' .did you mean 'front'.*auto, front, top, side, iso"):
        four_bar.draw(view="fromt")


def test_an_open_loop_is_drawn_with_its_gap(four_bar):
    """The cut pivot is 2 m from the crank's; with the coupler turned by 0.1 rad its end is 2 sin(0.05) 1.8 m and more off."""
    open_ = np.array(four_bar.initial_q) + [0.0, 0.1, 0.0]
    assert any("apart" in text for text in texts(four_bar.draw(q=open_)))
    assert not any("apart" in text for text in texts(four_bar.draw()))


def test_a_state_by_name_closes_the_loops(four_bar):
    assert not any("apart" in text for text in texts(four_bar.draw(q={"crank_pivot": 1.0})))


def test_a_mechanism_that_cannot_be_assembled_is_drawn_as_the_file_has_it(tmp_path):
    far = 'point = "C"\nchild_point = [9, 0, 0]'
    model = tmp_path / "open.toml"
    model.write_text(source("four_bar").replace('point = "C"', far))
    said = bellcrank("draw", str(model), "-o", str(tmp_path / "x.png"))
    assert said.exit_code == 2 and not (tmp_path / "x.png").exists()
    assert "bellcrank draw MODEL --as-drawn" in " ".join(said.stderr.split())
    figure = bc.load(model).draw(as_drawn=True)
    assert any(text.startswith("rocker_pivot: 7 m apart") for text in texts(figure))
    assert bellcrank("draw", str(model), "-o", str(tmp_path / "x.png"), "--as-drawn").exit_code == 0
    assert bellcrank("check", str(model), "--picture", str(tmp_path / "y.png")).exit_code == 0
    assert (tmp_path / "x.png").exists() and (tmp_path / "y.png").exists()


def test_the_command_draws_into_a_file_of_the_models_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = bellcrank("draw", "four_bar", "--q", "crank_pivot=1.0", "--view", "iso", "--no-names")
    assert said.exit_code == 0 and "wrote four_bar.png" in said.stdout
    assert Path("four_bar.png").read_bytes().startswith(b"\x89PNG")
    assert bellcrank("draw", "four_bar", "--view", "back").exit_code == 2
    assert bellcrank("draw", "four_bar", "--keep").exit_code == 2


def test_an_animation_has_a_frame_for_each_of_its_moments(turning, tmp_path):
    told = []
    file = turning.animate(tmp_path / "x.gif", points=["coupler"], forces=["rocker_pivot"], fps=10, progress=told.append)
    with Image.open(file) as film:
        assert film.n_frames == 4  # 0, 0.1, 0.2, 0.3 s
    np.testing.assert_allclose(told, [0.25, 0.5, 0.75, 1.0])
    slow = turning.animate(fps=10, speed=0.5)
    with Image.open(BytesIO(slow.gif)) as film:
        assert film.n_frames == 7
    assert slow._repr_html_().startswith('<img src="data:image/gif;base64,')  # what notebooks show


def test_what_cannot_be_animated_is_said_by_name(turning, tmp_path):
    for arguments, said in (
        ({"path": "x.avi"}, "cannot animate .*: its ending must be one of .gif, .mp4"),
        ({"points": ["couplr"]}, "no point 'couplr' .did you mean 'coupler'"),
        ({"forces": ["nobody"]}, "no force 'nobody'"),
        ({"fps": 0.0}, "fps is 0.0"),
        ({"speed": float("nan")}, "speed is nan"),
        ({"speed": 1e-6}, "frames are too many"),
        ({"view": "back"}, "view is 'back'"),
    ):
        with pytest.raises(bc.StateError, match=said):
            turning.animate(tmp_path / arguments.pop("path", "x.gif"), **arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_an_animation_that_is_interrupted_encodes_nothing_and_leaves_no_file(ending, turning, tmp_path, monkeypatch):
    def stop(fraction):
        raise KeyboardInterrupt

    def encode(writer):
        raise AssertionError("an interrupt would have to wait for this")

    if ending == "mp4":
        pytest.importorskip("imageio_ffmpeg", reason="MP4 needs ffmpeg, which comes with bellcrank[video]")
    for writer in (animation.PillowWriter, animation.FFMpegWriter):
        monkeypatch.setattr(writer, "finish", encode)
    with pytest.raises(KeyboardInterrupt):
        turning.animate(tmp_path / f"x.{ending}", progress=stop)
    assert list(tmp_path.iterdir()) == []


def boxes(data: bytes) -> dict[bytes, bytes]:
    """The boxes of an MP4 file (ISO 14496-12): a length of four bytes, a kind of four bytes, the content."""
    found, at = {}, 0
    while at + 8 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        found[data[at + 4 : at + 8]] = data[at + 8 : at + length]
        at += max(length, 8)
    return found


def test_an_mp4_lasts_as_long_as_the_run_at_its_speed(turning, tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="MP4 needs ffmpeg, which comes with bellcrank[video]")
    film = boxes(turning.animate(tmp_path / "x.mp4", fps=20, speed=0.5).read_bytes())
    head = boxes(film[b"moov"])[b"mvhd"]  # version and flags, created, modified, ticks a second, duration in ticks
    ticks, duration = (int.from_bytes(head[at : at + 4], "big") for at in (12, 16))
    assert film[b"ftyp"][:4] == b"isom"
    assert duration / ticks == pytest.approx(len(Recording(turning).frames(20, 0.5, 20_000)) / 20, abs=1e-3)


def test_mp4_without_ffmpeg_is_an_error_with_the_install_command(turning, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda program: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(bc.MissingExtraError, match=r'ffmpeg, which is not installed.*pip install "bellcrank\[video\]"'):
        turning.animate(tmp_path / "x.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_its_model_or_without_samples_cannot_be_animated(turning, tmp_path):
    alone = bc.load_run(turning.save(tmp_path / "run.nc"))
    alone.model = None
    with pytest.raises(bc.StateError, match="loaded without its model"):
        alone.animate(tmp_path / "x.gif")
    empty = bc.Run(turning.model, np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), {})
    with pytest.raises(bc.StateError, match="no samples"):
        empty.animate(tmp_path / "x.gif")


def test_forces_of_springs_and_constant_forces_are_drawn(tmp_path):
    car, crane = bc.load("quarter_car"), bc.load("crane")
    assert bc.simulate(car, duration=0.05).animate(tmp_path / "car.gif", forces=["strut"], fps=20).exists()
    assert bc.simulate(crane, duration=0.1).animate(tmp_path / "crane.gif", forces=["wind"], fps=20).exists()


def test_a_name_stands_beside_its_place_and_not_on_another():
    frame = np.array([[0.0, 0.0], [400.0, 400.0]])
    crowd = [Label(f"name {k}", np.array([200.0 + k, 200.0]), "black") for k in range(12)]
    placed = place_labels(crowd, np.zeros((0, 2)), frame)
    for k, one in enumerate(placed):
        for other in placed[:k]:
            low, high = np.maximum(one.corner, other.corner), np.minimum(one.corner + one.box, other.corner + other.box)
            assert (high - low).min() <= 0


def test_a_notebook_shows_the_picture_and_the_plot_of_a_run():
    model = bc.load("pendulum")
    for figure in (model.draw(), bc.simulate(model, 0.1).plot()):
        assert figure._repr_png_().startswith(b"\x89PNG")
