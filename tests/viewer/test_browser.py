"""The viewer: what the browser is told is the run; in a real browser it plays, and a slider simulates again.

What is drawn is read from the scene graph of the page. Pixels are not compared: how soon software draws them depends on what else
the machine does.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.viewer.browser import page as pages
from bellcrank.viewer.browser.charts import groups_of
from bellcrank.viewer.browser.details import as_plain
from bellcrank.viewer.browser.page import Page, write_html
from bellcrank.viewer.browser.triangles import COARSE, FINE, bands_for, triangles_of
from bellcrank.viewer.browser.workbench import first_sliders
from bellcrank.viewer.scene import Scene
from bellcrank.viewer.solids import Solid, solids_of

pytest.importorskip("viser", reason="the viewer's package is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WEBGL = ["--no-sandbox", "--use-gl=swiftshader", "--enable-webgl", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader"]

PENDULUM = """
format = 1
name = "pendulum"
[parameters]
length = 1.0
[points]
pivot = [0, 0, 0]
end = [0, 0, "=-length"]
[bodies.bob]
mass = 2.0
center = "end"
inertia = [0.1, 0.1, 0.01]
[joints.hinge]
type = "revolute"
parent = "ground"
child = "bob"
point = "pivot"
axis = "y"
[initial]
hinge = 0.5
"""


@pytest.fixture
def page() -> Iterator[Page]:
    found = bc.load(PENDULUM).view(open_browser=False, port=8290, duration=1.0, step=0.05)
    yield found
    found.close()


def until(true: Callable[[], bool]) -> bool:
    """Whether something that another thread does comes true; the patience is for a busy machine."""
    for _ in range(600):
        if true():
            return True
        time.sleep(0.05)
    return False


def volume(solid: Solid, bands: int = FINE) -> float:
    """Of a closed surface whose triangles all turn outward: the sum of the tetrahedra to the origin."""
    points, faces = triangles_of(solid, bands)
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_triangles_enclose_the_volume_of_the_solid_and_face_outward() -> None:
    box = Solid(0, np.array([[x, y, z] for x in (0, 2.0) for y in (0, 3.0) for z in (0, 0.5)]))
    assert volume(box) == pytest.approx(3.0, rel=1e-12)
    ball, bar = Solid(0, np.array([[1.0, 2.0, 3.0]]), 0.5), Solid(0, np.array([[0.0, 0, 0], [0, 0, 4.0]]), 0.5)
    sphere = np.pi / 6
    assert 0.92 * sphere < volume(ball) < sphere  # a polyhedron inside the sphere
    assert 0.92 * (sphere + np.pi) < volume(bar) < sphere + np.pi
    assert 0 < volume(Solid(0, np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]))) < 1e-3  # flat: given a thickness


def test_an_ellipsoid_has_as_few_triangles_as_a_ball_and_nearly_its_volume() -> None:
    turns, heights = np.meshgrid(np.linspace(0, 2 * np.pi, 48, endpoint=False), np.linspace(0, np.pi, 21))
    ball = np.stack([np.sin(heights) * np.cos(turns), np.sin(heights) * np.sin(turns), np.cos(heights)], axis=2).reshape(-1, 3)
    ellipsoid = Solid(0, ball * [0.2, 0.5, 1.0])
    for bands, least in ((FINE, 0.9), (COARSE, 0.7)):
        assert len(triangles_of(ellipsoid, bands)[1]) <= len(triangles_of(Solid(0, np.zeros((1, 3)), 1.0), bands)[1])
        assert least < volume(ellipsoid, bands) / (4 / 3 * np.pi * 0.2 * 0.5) < 1
    assert bands_for(3) == FINE and bands_for(40) == COARSE


@pytest.mark.parametrize("name", bc.gallery())
def test_every_solid_of_the_gallery_becomes_triangles(name: str) -> None:
    for solid in solids_of(Scene(bc.load(name))):
        assert volume(solid) > 0


def test_the_browser_is_told_the_positions_of_the_run(page: Page) -> None:
    recording = page.playback.recording
    for sample in (0, 7, 20):
        page.playback.show(sample)
        assert np.allclose(page.stage.position(0), recording.run.positions.values[sample, 0], atol=1e-12)
        turned = np.array(
            [np.cos(recording.run.values("q")[sample, 0] / 2), 0, np.sin(recording.run.values("q")[sample, 0] / 2), 0]
        )
        assert abs(page.stage._frames[0].wxyz @ turned) == pytest.approx(1.0, abs=1e-9)


def test_while_it_plays_the_scene_goes_ahead_of_the_panel_and_the_end_is_followed_by_the_start(page: Page) -> None:
    playback = page.playback
    playback.go_on(0.2, now=100.0)
    assert (playback.sample, playback.slider.value) == (4, 0.2)
    playback.go_on(0.1, now=100.05)  # s: too soon for plots and sliders to follow
    assert (playback.sample, playback.slider.value) == (6, 0.2)
    assert page.stage.position(0) == pytest.approx(playback.recording.run.positions.values[6, 0])
    playback.go_on(0.1, now=100.15)
    assert (playback.sample, playback.slider.value) == (8, pytest.approx(0.4))
    playback.go_on(0.7, now=100.2)
    assert playback.sample == 0


def test_sliders_are_of_parameters_else_of_springs_and_masses() -> None:
    assert first_sliders(bc.load(PENDULUM)) == ["parameters.length"]
    assert first_sliders(bc.load("quarter_car"))[:4] == ["strut.stiffness", "strut.damping", "strut.length", "arm.mass"]


def test_a_slider_simulates_again_and_a_bad_value_says_why(page: Page) -> None:
    bench = page.workbench
    assert bench is not None
    before = page.playback.recording.run.values("q")[-1, 0]
    bench.change("parameters.length", 0.5)
    assert until(lambda: bench.simulated == 1)
    after = page.playback.recording.run.values("q")[-1, 0]
    expected = bc.simulate(bc.load(PENDULUM).with_parameters({"parameters.length": 0.5}), duration=1.0, step=0.05)
    assert after == expected.values("q")[-1, 0] and after != before
    bench.change("bob.mass", -1.0)
    assert until(lambda: "mass" in bench.message.content)
    assert bench.simulated == 1  # what was shown stays


def test_the_model_is_saved_at_once_with_the_numbers_of_the_sliders(page: Page) -> None:
    assert page.workbench is not None
    page.workbench.bench.changes["parameters.length"] = 0.5
    sent: list[tuple[str, bytes, bool]] = []

    class Client:
        def send_file_download(self, name: str, content: bytes, *, save_immediately: bool) -> None:
            sent.append((name, content, save_immediately))

    page.workbench._download(type("Event", (), {"client": Client()}))
    ((name, content, at_once),) = sent
    assert (name, at_once) == ("pendulum.toml", True)
    assert bc.load(content.decode()).parameters["parameters.length"] == 0.5


def test_closure_errors_are_drawn_by_their_powers_of_ten() -> None:
    chart = groups_of(bc.simulate(bc.load("four_bar"), duration=0.1))["Closure error (log10 of m)"]()
    assert ((chart["largest"] > -21) & (chart["largest"] < -10)).all()


def test_bars_are_the_changes_of_the_output_that_one_per_cent_of_a_slider_brings(page: Page) -> None:
    bench = page.workbench
    assert bench is not None
    bench.change("parameters.length", 0.5)
    bench.bars.choice.value = "rms(hinge.q)"
    assert until(lambda: "parameters.length" in bench.bars.found and bench.simulated == 1)
    assert until(lambda: "rms(hinge.q)" in bench.bars.html.content)

    def rms(length: float) -> float:
        model = bc.load(PENDULUM).with_parameters({"parameters.length": length})
        time = np.linspace(0.0, 1.0, 2001)
        q = bc.simulate(model, 1.0, step=time[1]).values("q")[:, 0]
        return float(np.sqrt(np.trapezoid(q**2, time)))

    change = (rms(0.5 + 1e-5) - rms(0.5 - 1e-5)) / 2e-5 * 0.01 * 0.5
    assert bench.bars.found["parameters.length"] == pytest.approx(change, rel=1e-4)


def test_bars_say_why_an_output_has_no_derivatives(page: Page) -> None:
    bars = page.workbench.bars
    bars.choice.value = bars.outputs[0]
    bars.show(bc.load(PENDULUM), ["bob.no_such_number"], {"duration": 0.1})
    assert "no_such_number" in bars.html.content


def test_the_handle_keeps_the_loops_closed() -> None:
    page = bc.load("four_bar").view(open_browser=False, port=8290, duration=0.1)
    try:
        assert page.workbench is not None
        page.workbench.move("crank_pivot", 1.0)
        model = page.playback.recording.scene.model
        q = bc.assemble(model, {"crank_pivot": 1.0}).q
        assert np.allclose([page.stage.position(k) for k in range(model.n)], bc.compile(model).poses(q)[0], atol=1e-9)
    finally:
        page.close()


def test_details_of_a_joint_are_those_of_the_run(page: Page) -> None:
    page.details.select("hinge")
    page.playback.show(20)
    force = page.playback.recording.run.values("reactions")[20, 0, :3]
    shown = re.search(r"force \((.*?)\)", page.details.text.content)
    assert shown is not None
    assert np.allclose([float(x) for x in shown[1].split(",")], force, rtol=1e-3, atol=1e-9)
    page.details.select("bob")
    assert "mass 2 kg" in page.details.text.content


def test_names_mean_nothing_in_markdown() -> None:
    assert as_plain("a*b_[x](y)") == r"a\*b\_\[x\]\(y\)"


def test_a_page_is_served_to_this_machine_alone(page: Page) -> None:
    assert page.url.startswith("http://127.0.0.1:")


def test_one_html_file_holds_everything(tmp_path) -> None:
    run = bc.simulate(bc.load(PENDULUM), duration=0.5, step=0.05)
    file = write_html(run, tmp_path / "pendulum.html")
    text = file.read_text()
    assert "__VISER_EMBED_DATA__" in text
    assert not re.search(r'<(script|link)[^>]+(src|href)="https?:', text)
    with pytest.raises(bc.StateError, match="already"):
        write_html(run, file, keep=True)
    with pytest.raises(bc.StateError, match="too many"):
        write_html(run, file, fps=1e5)


def test_without_the_package_the_error_names_the_install_command(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(bc.MissingExtraError, match=r'pip install "bellcrank\[view\]"'):
        bc.load(PENDULUM).view(duration=0.1)


def test_options_of_simulate_are_for_models() -> None:
    run = bc.simulate(bc.load(PENDULUM), duration=0.1)
    with pytest.raises(bc.StateError, match="duration can be given for a model"):
        pages.view(run, duration=1.0)


def test_a_run_carries_its_model_in_its_file(tmp_path) -> None:
    model = bc.load("four_bar")
    run = bc.simulate(model, duration=0.1)
    loaded = bc.load_run(run.save(tmp_path / "run.nc"))
    assert loaded.model is not None and loaded.model.parameters == model.parameters
    page = loaded.view(open_browser=False, port=8290)
    try:
        assert page.workbench is None
        assert np.allclose(page.stage.position(1), run.positions.values[0, 1], atol=1e-12)
    finally:
        page.close()


def turn_that_is_drawn(tab) -> float:
    """The angle about y of the bob in the scene graph of the browser, once its origin is on the pivot."""
    node = "window.__viserMutable.nodeRefFromName['/bodies/0']"
    x, y, z, w = tab.evaluate(f"{node}.quaternion.toArray()")
    assert tab.evaluate(f"{node}.position.toArray()") == [0, 0, 0] and x == z == 0
    return 2 * float(np.arctan2(y, w))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_in_a_real_browser_it_plays_and_a_slider_simulates(page: Page) -> None:
    browsers = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    problems: list[str] = []
    with browsers.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=WEBGL)
        tab = browser.new_page(viewport={"width": 640, "height": 400})
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        tab.goto(page.url)
        tab.get_by_text("Time (s)", exact=True).wait_for(timeout=60_000)
        tab.locator("canvas").first.wait_for(timeout=60_000)
        tab.get_by_label("Play", exact=True).check(timeout=60_000)
        assert until(lambda: page.playback.sample > 3)
        tab.get_by_label("Play", exact=True).uncheck(timeout=60_000)
        assert until(lambda: not page.playback.play.value)
        angle = page.playback.recording.run.values("q")[page.playback.sample, 0]
        assert angle != 0.5 and until(lambda: abs(turn_that_is_drawn(tab) - angle) < 1e-6)
        length = tab.get_by_text("length", exact=True).locator("xpath=ancestor::*[.//input][1]").locator("input").last
        length.fill("0.6")
        length.press("Enter")
        assert page.workbench is not None and until(lambda: page.workbench.simulated > 0)
        after = page.playback.recording.run.values("q")[page.playback.sample, 0]
        assert after != angle and until(lambda: abs(turn_that_is_drawn(tab) - after) < 1e-6)
        browser.close()
    assert page.workbench.bench.changes == {"parameters.length": 0.6}
    assert not problems
