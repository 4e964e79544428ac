"""Screenshots of the viewer for docs/viewer.md: needs Chromium, playwright, and the extras view and robots.

python examples/screenshots.py docs
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import bellcrank as bc

WEBGL = ["--no-sandbox", "--use-gl=swiftshader", "--enable-webgl", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader"]
SHOTS = {  # model: seconds, forces shown, point traced, plot
    "quarter_car": (2.0, True, "wheel", "Coordinates (rad)"),
    "strandbeest": (3.0, False, "left.step", "Joint forces (N)"),
    "stewart": (2.0, True, "height", "Energy (J)"),
    "humanoid": (1.0, False, "", "Energy (J)"),
}


def main(folder: Path, names: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=WEBGL)
        for name in names:
            take(browser, name, folder / f"viewer_{name}.png")
        browser.close()


def take(browser, name: str, file: Path) -> None:
    duration, forces, traced, plot = SHOTS[name]
    page = bc.load(name).view(open_browser=False, duration=duration)
    page.playback.joint_forces.value = forces
    if traced in page.playback.traces:
        page.playback.traces[traced].value = True
    if plot in page.charts.groups:
        page.charts.choice.value = plot
    tab = browser.new_page(viewport={"width": 1100, "height": 720})
    tab.goto(page.url)
    tab.get_by_text("Time (s)", exact=True).wait_for(timeout=60_000)
    tab.wait_for_timeout(1500)
    notice = tab.locator(".mantine-Notification-closeButton")
    if notice.count():
        notice.first.dispatch_event("click")
    page.playback.slider.value = 0.4 * duration
    page.playback.show_time(0.4 * duration)
    tab.wait_for_timeout(2500)
    tab.screenshot(path=file)
    print(f"wrote {file}; points {list(page.playback.traces)}")
    tab.close()
    page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), sys.argv[2:] or list(SHOTS))
