"""Pictures of the gallery for the docs.   python examples/pictures.py [--out FOLDER]

Writes the three mechanisms that docs/pictures.md shows, and one sheet with all of the gallery, with few colours so that
the files stay small.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

import bellcrank as bc

SHOWN = ("four_bar", "excavator", "quarter_car")
COLUMNS, CELL = 4, (300, 250)  # of the sheet, and pixels of a picture in it
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


def draw_shown(folder: Path) -> list[Path]:
    """A file for each of the mechanisms that the page shows."""
    return [write_small(image_of(bc.load(name).draw(), 100), folder / f"{name}.png") for name in SHOWN]


def draw_sheet(folder: Path) -> Path:
    """All of the gallery on one sheet."""
    names = sorted(bc.gallery())
    rows = -(-len(names) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * CELL[0], rows * CELL[1]), "white")
    for k, name in enumerate(names):
        picture = image_of(bc.load(name).draw(names=False), 100)
        picture.thumbnail((CELL[0] - 16, CELL[1] - 16), Image.Resampling.LANCZOS)
        left, top = k % COLUMNS * CELL[0], k // COLUMNS * CELL[1]
        sheet.paste(picture, (left + (CELL[0] - picture.width) // 2, top + (CELL[1] - picture.height) // 2))
    return write_small(sheet, folder / "gallery.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs")
    out = parser.parse_args().out
    for path in (*draw_shown(out), draw_sheet(out)):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
