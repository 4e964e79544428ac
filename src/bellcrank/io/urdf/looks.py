"""How the links of a URDF look: shapes, colours, and files of meshes that may be opened. What cannot be read is left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..exchange.imported import Array, ImportedParts
from ..exchange.markup import XmlElement
from ..options import Options
from .extras import OUTSIDE, mesh_file

Color = tuple[float, ...] | None


def add_looks(assembly: ImportedParts, root: XmlElement, index: Mapping[str, int], file: str, options: Options) -> None:
    """A look for each <visual>; ``index`` numbers the links by name."""
    folder = Path(file).parent if "\n" not in file else Path()
    known = {node.attributes.get("name", ""): _color(node) for node in root.all("material")}
    for link in root.all("link"):
        for visual in link.all("visual"):
            color = next((_color(m) or known.get(m.attributes.get("name", "")) for m in visual.all("material")), None)
            position, axes = _origin(visual)
            for shape in (child for geometry in visual.all("geometry") for child in geometry.children):
                size, path = _size(shape), _file(shape, folder, options)
                if shape.tag in ("box", "sphere", "cylinder") and size is not None:
                    assembly.look(index[link.attributes["name"]], shape.tag, size, position, axes, color=color)
                elif shape.tag == "mesh" and size is not None and path:
                    assembly.look(index[link.attributes["name"]], "mesh", size, position, axes, color=color, file=path)


def _size(shape: XmlElement) -> tuple[float, ...] | None:
    given = shape.attributes
    if shape.tag == "box":
        return _numbers(given.get("size", ""), 3)
    if shape.tag == "mesh":
        return _numbers(given.get("scale", "1 1 1"), 3)
    both = [given.get("radius", ""), given.get("length", "")]
    return _numbers(" ".join(both[: 1 if shape.tag == "sphere" else 2]), 1 if shape.tag == "sphere" else 2)


def _file(shape: XmlElement, folder: Path, options: Options) -> str:
    """The path of a mesh that is there and may be opened; else nothing, which the warning of the import names."""
    path = mesh_file(shape.attributes.get("filename", ""), folder, options)
    return "" if path is None or path is OUTSIDE else str(path)


def _origin(node: XmlElement) -> tuple[Array, Array]:
    """Position and axes: turns about the fixed x, y and z, in this order."""
    for origin in node.all("origin"):
        xyz, rpy = (_numbers(origin.attributes.get(key, "0 0 0"), 3) or (0.0, 0.0, 0.0) for key in ("xyz", "rpy"))
        (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
        about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        return np.array(xyz), about_z @ about_y @ about_x
    return np.zeros(3), np.eye(3)


def _color(material: XmlElement) -> Color:
    return next((_numbers(node.attributes.get("rgba", ""), 4) for node in material.all("color")), None)


def _numbers(text: str, count: int) -> tuple[float, ...] | None:
    """Finite numbers; None where there are others, or not so many."""
    try:
        found = tuple(float(part) for part in text.split())
    except ValueError:
        return None
    return found if len(found) == count and np.isfinite(found).all() else None
