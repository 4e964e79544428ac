"""Screenshots of the viewer for docs/viewer.md: needs Chromium, playwright, and the extras view and robots.

python examples/screenshots.py docs
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import trimesh
from playwright.sync_api import sync_playwright

import bellcrank as bc

WEBGL = ["--no-sandbox", "--use-gl=swiftshader", "--enable-webgl", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader"]
SHOTS = {  # model: seconds, forces shown, point traced, plot
    "quarter_car": (2.0, True, "wheel", "Coordinates (rad)"),
    "strandbeest": (3.0, False, "left.step", "Joint forces (N)"),
    "stewart": (2.0, True, "height", "Energy (J)"),
    "humanoid": (1.0, False, "", "Energy (J)"),
    "robot": (1.5, False, "flange", "Coordinates (rad)"),
}
LINKS = {  # of the robot: joint axis, its height above the joint before, profile of the mesh (radius, height), colour
    "column": ("0 0 1", 0.0, [(0.14, 0), (0.14, 0.06), (0.09, 0.1), (0.08, 0.3), (0.1, 0.34), (0.1, 0.42)], "0.93 0.55 0.13"),
    "upper_arm": (
        "0 1 0",
        0.38,
        [(0.08, -0.08), (0.08, 0.06), (0.055, 0.12), (0.05, 0.4), (0.07, 0.45), (0.07, 0.57)],
        "0.85 0.85 0.87",
    ),
    "forearm": (
        "0 1 0",
        0.5,
        [(0.06, -0.06), (0.06, 0.05), (0.04, 0.1), (0.035, 0.34), (0.05, 0.38), (0.05, 0.42)],
        "0.93 0.55 0.13",
    ),
    "flange": ("0 0 1", 0.42, [(0.05, 0), (0.05, 0.03), (0.025, 0.04), (0.025, 0.1), (0.04, 0.12)], "0.3 0.33 0.37"),
}


def robot(folder: Path) -> bc.Model:
    """An arm of four joints as a URDF whose looks are meshes in files beside it, each a profile turned about its axis."""
    folder.mkdir()
    text, before = ['<robot name="robot"><link name="base"/>'], "base"
    for name, (axis, height, profile, color) in LINKS.items():
        closed = [(0.0, profile[0][1]), *profile, (0.0, profile[-1][1])]
        trimesh.creation.revolve(np.array(closed), sections=40).export(folder / f"{name}.stl")
        visual = f'<geometry><mesh filename="package://robot/{name}.stl"/></geometry>'
        visual += f'<material name="{name}"><color rgba="{color} 1"/>'
        text.append(
            f'<link name="{name}"><visual>{visual}</material></visual><inertial><origin xyz="0 0 0.2"/><mass value="6"/>'
            '<inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{name}_joint" type="continuous"><parent link="{before}"/><child link="{name}"/>'
            f'<origin xyz="0 0 {height}"/><axis xyz="{axis}"/></joint>'
        )
        before = name
    (folder / "robot.urdf").write_text("\n".join([*text, "</robot>"]))
    return bc.load(folder / "robot.urdf")


def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Torques that lead the joints of the robot along a smooth motion, as a position controller does."""
    wanted = np.array([1.2 * np.sin(2 * t), 0.7 - 0.3 * np.cos(3 * t), 1.3 + 0.4 * np.sin(3 * t), t])
    return 900.0 * (wanted - q) - 90.0 * v


def main(folder: Path, names: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=WEBGL)
        for name in names:
            take(browser, name, folder / f"viewer_{name}.png")
        browser.close()


def take(browser, name: str, file: Path) -> None:
    with TemporaryDirectory() as folder:
        if name == "robot":
            start = {"upper_arm_joint": 0.4, "forearm_joint": 1.3}
            show(browser, robot(Path(folder) / "robot"), name, file, q=start, tau=controller)
        else:
            show(browser, bc.load(name), name, file)


def show(browser, model: bc.Model, name: str, file: Path, **options) -> None:
    duration, forces, traced, plot = SHOTS[name]
    page = model.view(open_browser=False, duration=duration, **options)
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
