"""Pictures for the docs.   python examples/pictures.py [--out FOLDER]

Writes the mechanisms that the pages show, one picture for each model of the gallery, one sheet with all of them, some
animations, and the pictures of the tutorial. Pictures have few colours so that the files stay small.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image, ImageChops

import bellcrank as bc
from bellcrank.viewer.pictures.colors import INK

DOCS = Path(__file__).parents[1] / "docs"
SHOWN = ("four_bar", "excavator", "quarter_car")
MOVING: dict[str, tuple[float, list[str]]] = {  # seconds, and the points that leave traces
    "strandbeest": (2.0, []),
    "engine": (0.06, []),
    "double_wishbone": (1.0, []),
    "stewart": (2.0, []),
    "excavator": (2.0, []),
}
COLUMNS, CELL = 4, (3.0, 2.6)  # of the sheet, and inches of a picture in it
COLORS = 128


def image_of(figure: Figure, dots_per_inch: int) -> Image.Image:
    """The pixels of a figure."""
    with BytesIO() as buffer:
        figure.savefig(buffer, format="png", dpi=dots_per_inch)
        buffer.seek(0)
        with Image.open(buffer) as read:
            return read.convert("RGB")


def write_small(image: Image.Image, file: Path) -> Path:
    image.quantize(COLORS, dither=Image.Dither.NONE).save(file, optimize=True)
    return file


def shrink(film: Path, width: int = 420) -> Path:
    """An animation with smaller frames of few colours."""
    with Image.open(film) as read:
        pause, frames = read.info["duration"], []
        for k in range(getattr(read, "n_frames", 1)):
            read.seek(k)
            frame = read.convert("RGB").resize((width, round(read.height * width / read.width)), Image.Resampling.LANCZOS)
            frames.append(frame.quantize(64, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE))
    frames[0].save(film, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)
    return film


def draw_shown(folder: Path) -> Iterator[Path]:
    """A file for each of the mechanisms that the pages show large."""
    for name in SHOWN:
        yield write_small(image_of(bc.load(name).draw(), 100), folder / f"{name}.png")


def without_margins(figure: Figure, dots_per_inch: int) -> Image.Image:
    """The mechanism alone: without title, scale and the white around it."""
    for extra in (*figure.axes[1:], *figure.texts):
        extra.set_visible(False)
    picture = image_of(figure, dots_per_inch)
    around = ImageChops.difference(picture, Image.new("RGB", picture.size, "white")).getbbox()
    return picture.crop(around)


def sheet_of(pictures: dict[str, Image.Image]) -> Figure:
    """All of some pictures, each as large as its cell allows, with its name above it."""
    rows = -(-len(pictures) // COLUMNS)
    figure = Figure(figsize=(COLUMNS * CELL[0], rows * CELL[1]))
    grid = {"left": 0.02, "right": 0.98, "bottom": 0.01, "top": 0.98, "hspace": 0.22, "wspace": 0.12}
    cells = figure.subplots(rows, COLUMNS, gridspec_kw=grid).ravel()
    for cell in cells:
        cell.axis("off")
    for cell, (name, picture) in zip(cells, pictures.items(), strict=False):
        cell.imshow(picture, interpolation="antialiased", interpolation_stage="rgba")
        cell.set_anchor("C")
        x, y = cell.get_position(original=True).x0, cell.get_position(original=True).y1
        figure.text(x, y + 0.006, name, fontsize=11, weight="bold", color=INK)
    return figure


def draw_gallery(folder: Path) -> Iterator[Path]:
    """A small picture of every model, and all of them on one sheet."""
    (folder / "gallery").mkdir(exist_ok=True)
    pictures = {}
    for name in sorted(bc.gallery()):
        model = bc.load(name)
        drawn = model.draw(names=False)
        yield write_small(image_of(drawn, 100), folder / "gallery" / f"{name}.png")
        pictures[model.name] = without_margins(drawn, 60)
    few = {"method": Image.Quantize.MAXCOVERAGE, "kmeans": 2, "dither": Image.Dither.NONE}  # which keep rare colours
    image_of(sheet_of(pictures), 110).quantize(256, **few).save(folder / "gallery.png", optimize=True)
    yield folder / "gallery.png"


def animate_gallery(folder: Path) -> Iterator[Path]:
    """Some of the models in motion, in about thirty frames."""
    for name, (duration, points) in MOVING.items():
        run = bc.simulate(bc.load(name), duration=duration, step=duration / 200)
        yield shrink(run.animate(folder / "gallery" / f"{name}.gif", points=points, fps=10, speed=duration / 3, names=False))


def draw_tutorial(folder: Path) -> Iterator[Path]:
    """The linkage of the tutorial, its loads, and the path of its tool."""
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    found = re.search(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    model = bc.load(found[1])
    run = bc.simulate(model)
    yield write_small(image_of(model.draw(), 100), folder / "tutorial_draw.png")
    yield write_small(image_of(run.plot(["torque", "bearing"]), 100), folder / "tutorial_loads.png")
    film = folder / "tutorial_path.gif"
    yield shrink(run.animate(film, points=["coupler.P"], forces=["rocker_pivot"], fps=10, speed=0.3, names=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=DOCS)
    out = parser.parse_args().out
    for made in (draw_shown, draw_gallery, animate_gallery, draw_tutorial):
        for path in made(out):
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
