"""The viewer: how often a slider simulates again, and how many frames a second a browser draws of a long run.

    python bench/viewer.py              # processor time of a change of a slider, without a browser
    python bench/viewer.py --browser    # the same while a slider is dragged in Chromium, and the humanoid of 100,000 samples

Chromium draws in software here, without a graphics card, in a window of 640 by 400 points. A frame is counted where the pose of
a body in the scene graph of the page differs from that at the last drawn frame. Memory is the proportional set size (Linux).
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bellcrank as bc
from bellcrank.viewer.browser.page import Page

DURATION, SAMPLES, SECONDS = 3.0, 100_000, 5.0
FLAGS = ["--no-sandbox", "--use-gl=swiftshader", "--enable-webgl", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader"]
COUNT = """([body, seconds]) => new Promise(done => {
    const began = performance.now();
    let drawn = 0, last = "";
    function look() {
        const node = window.__viserMutable.nodeRefFromName["/bodies/" + body];
        const now = JSON.stringify([node.position.toArray(), node.quaternion.toArray()]);
        drawn += now !== last;
        last = now;
        const passed = (performance.now() - began) / 1000;
        if (passed < seconds) requestAnimationFrame(look); else done(drawn / passed);
    }
    requestAnimationFrame(look);
})"""


def main() -> None:
    model = bc.load("quarter_car")
    page = model.view(open_browser=False, port=8400, duration=DURATION)
    try:
        _server(page)
        if "--browser" in sys.argv:
            _dragged(page)
    finally:
        page.close()
    if "--browser" in sys.argv:
        _long_run()


def _server(page: Page) -> None:
    """Processor time of a change, and of the run that is in it, in turns."""
    bench, best = page.workbench, [float("inf"), float("inf")]
    assert bench is not None
    value = bench.bench.original.parameters["strut.stiffness"]
    for k in range(60):
        bench.bench.changes["strut.stiffness"] = value * (1 + 0.002 * k)
        for which, call in enumerate((bench.simulate, bench.bench.run)):
            began = time.thread_time()
            call()
            best[which] = min(best[which], time.thread_time() - began)
    print(f"a change of a slider, quarter car of {DURATION:g} s: {1000 * best[0]:.1f} ms of processor time at the least")
    print(f"    of these the run with its start and checks: {1000 * best[1]:.1f} ms")


@contextmanager
def _tab(page: Page) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = browser.new_page(viewport={"width": 640, "height": 400})
        tab.goto(page.url)
        tab.get_by_text("Time (s)", exact=True).wait_for(timeout=60_000)
        tab.locator("canvas").first.wait_for(timeout=60_000)
        time.sleep(3)
        yield tab
        browser.close()


def _dragged(page: Page) -> None:
    """The slider of the spring is moved to and fro by the mouse."""
    bench = page.workbench
    assert bench is not None
    with _tab(page) as tab:
        row = tab.get_by_text("strut.stiffness", exact=True).locator("xpath=ancestor::*[.//input][1]")
        knob = row.locator("[role=slider]").last
        knob.scroll_into_view_if_needed(timeout=60_000)
        box = knob.bounding_box(timeout=60_000)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 5, y)
        time.sleep(2)  # the design is recorded and compiled at the first change
        before, began, k = bench.simulated, time.perf_counter(), 0
        while time.perf_counter() - began < SECONDS:
            k += 1
            tab.mouse.move(x + 25 * ((k % 50) / 25 - 1), y)
        rate = (bench.simulated - before) / (time.perf_counter() - began)
        tab.mouse.up()
    print(f"while the slider is dragged in Chromium, moved {k / SECONDS:.0f} times a second: {rate:.1f} simulations a second")


def _long_run() -> None:
    run = bc.simulate(bc.load("humanoid"), duration=1.0, step=1.0 / SAMPLES)
    page = run.view(open_browser=False, port=8400)
    try:
        with _tab(page) as tab:
            tab.get_by_label("Play", exact=True).check(timeout=60_000)
            frames = [tab.evaluate(COUNT, [3, SECONDS]) for _ in range(3)]
            print(f"humanoid of {SAMPLES} samples, frames a second: {', '.join(f'{rate:.1f}' for rate in frames)}")
            browser = sum(_memory(pid) for pid in Path("/proc").glob("[0-9]*") if b"chromium" in _command(pid))
            print(f"memory: server {_memory(Path('/proc/self')):.2f} GB, browser {browser:.2f} GB")
    finally:
        page.close()


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def _memory(process: Path) -> float:
    """Proportional set size, GB."""
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e6


if __name__ == "__main__":
    main()
