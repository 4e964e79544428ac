"""Contents of a URDF besides mechanics: collision shapes, transmissions. They are listed, so that nothing is left out in
silence.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ...model.spec.problems import names
from ...wording import argument
from ..exchange.markup import XmlElement
from ..inside import leaves, resolve, strange, trusted
from ..options import Options

KNOWN = {"link": {"inertial", "visual", "collision"}}
KNOWN["joint"] = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"}
LISTED = 4  # names in a line


def extras(root: XmlElement, file: str, options: Options) -> Iterator[str]:
    """A line for each kind of thing that is not simulated."""
    touching = [node.attributes["name"] for node in root.all("link") if node.all("collision")]
    if touching:
        yield f"contacts of the links {names(touching, LISTED)}"
    for tag, words in (("safety_controller", "safety controllers"), ("calibration", "calibrations")):
        found = [node.attributes["name"] for node in root.all("joint") if node.all(tag)]
        if found:
            yield f"{words} of the joints {names(found, LISTED)}"
    yield from _unknown(root)
    yield from _meshes(root, file, options)


def _unknown(root: XmlElement) -> Iterator[str]:
    """Elements that belong to other programs: transmissions, plugins and the like."""
    found = Counter(child.tag for child in root.children if child.tag not in ("link", "joint", "material"))
    for node in root.children:
        if node.tag in KNOWN:
            found.update(f"{node.tag}/{child.tag}" for child in node.children if child.tag not in KNOWN[node.tag])
    for tag, count in found.items():
        yield f"{count} element{'s' if count > 1 else ''} <{tag}>"


OUTSIDE = Path()


def mesh_file(name: str, folder: Path, options: Options) -> Path | None:
    """The file of a mesh; OUTSIDE for one that must not be opened, None for one that is not there."""
    path = None if strange(name) else resolve(name, folder, options.packages)
    if path is None:
        return None
    if not options.allow_outside and all(leaves(root, path) for root in trusted(name, folder, options.packages)):
        return OUTSIDE
    return path if os.path.isfile(path) else None  # Path.is_file raises for names that are too long


def _meshes(root: XmlElement, file: str, options: Options) -> Iterator[str]:
    """Meshes that are not there, or must not be looked at."""
    folder = Path(file).parent if "\n" not in file else Path()
    files = list(dict.fromkeys(node.attributes.get("filename", "") for node in root.walk() if node.tag == "mesh"))
    missing, outside, odd = [], [], []
    for name in files:
        path = mesh_file(name, folder, options)
        if strange(name):
            odd.append(f'"{name}" {strange(name)}')
        elif path is None:
            missing.append(name)
        elif path is OUTSIDE:
            outside.append(name)
    if missing:
        yield f"meshes that are not there: {names(missing, LISTED)}"
    if outside:
        unless = argument("allow_outside", True)
        yield f"meshes outside the model's folder, which are not looked at ({unless}): {names(outside, LISTED)}"
    yield from (f"mesh {text}" for text in odd[:LISTED])
