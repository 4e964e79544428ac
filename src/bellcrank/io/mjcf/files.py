"""The files that an MJCF model would make MuJoCo open, checked beforehand: none outside the model's folder, none that expand
without bound.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...errors import ModelError
from ...wording import argument
from ..exchange.markup import XmlElement, parse
from ..files import read_bytes, regular_file
from ..inside import leaves, real, strange
from ..options import Options

FOLDERS = ("assetdir", "meshdir", "texturedir")
MOST_INCLUDED = 200
MOST_COPIES = 100_000  # bodies that <replicate> and <composite> may make


class Document(NamedTuple):
    """A file of the model: its root, its name, and the folder that it is in."""

    root: XmlElement
    name: str
    folder: Path


class ModelFolder(NamedTuple):
    """The model's own folder, which nothing may leave unless the user allows it."""

    folder: Path
    options: Options


def check_files(root: XmlElement, file: str, options: Options, *, from_text: bool) -> list[Document]:
    """Checks all files of the model; raises ModelError for files outside, for includes in a ring, and for endless copies."""
    home = ModelFolder(Path(file).parent, options)
    documents = list(_included(Document(root, file, home.folder), home, from_text=from_text))
    assets = [".", *(value for document in documents for value in _folders(document.root))]
    for document in documents:
        _check_copies(document.root, document.name)
        around = [folder / inner for folder in dict.fromkeys((home.folder, document.folder)) for inner in assets]
        for node in document.root.walk():
            if node.tag == "connect" and not node.attributes.get("anchor", "0").strip():  # MuJoCo 4.0 hangs at the next model
                raise ModelError(f"{document.name}, line {node.line}: the anchor of <connect> is empty. Give three numbers.")
            for key, value in node.attributes.items():
                if key in FOLDERS and value:
                    _check_inside(value, [home.folder], home, document, node)
                elif key.startswith("file") and node.tag != "include" and value:
                    if from_text:
                        where = f"{document.name}, line {node.line}"
                        raise ModelError(
                            f'{where}: it needs the file "{value}", but a model given as text has no folder. '
                            "Load it from a file."
                        )
                    for place in _check_inside(value, around, home, document, node):
                        regular_file(place)  # MuJoCo would wait for what comes out of a pipe
    return documents


def _included(first: Document, home: ModelFolder, *, from_text: bool) -> Iterator[Document]:
    """The document and all that it includes or attaches, each once."""
    waiting, seen = [first], {real(Path(first.name))}
    count = 0
    while waiting:
        document = waiting.pop()
        yield document
        for node in document.root.walk():
            inner = node.attributes.get("file", "")
            if node.tag != "include" and not (node.tag == "model" and inner):
                continue
            count += 1
            if from_text or count > MOST_INCLUDED:
                why = "a model given as text has no folder" if from_text else f"more than {MOST_INCLUDED} files are included"
                raise ModelError(f'{document.name}, line {node.line}: it includes "{inner}", but {why}.')
            assets = _folders(document.root) if node.tag == "model" else ()
            around = [folder / inside for folder in (home.folder, document.folder) for inside in (".", *assets)]
            places = _check_inside(inner, around, home, document, node)
            if not places:
                looked = " and ".join(dict.fromkeys(f'"{folder}"' for folder in around if folder.is_dir()))
                raise ModelError(
                    f'{document.name}, line {node.line}: <{node.tag}> names the file "{inner}", which is not in {looked}. '
                    "Put it there, or correct its path."
                )
            for path in places:
                if real(path) not in seen:
                    seen.add(real(path))
                    waiting.append(Document(parse(read_bytes(path), str(path)), str(path), path.parent))


def _folders(root: XmlElement) -> Iterator[str]:
    for node in root.walk():
        if node.tag == "compiler":
            yield from (node.attributes[key] for key in FOLDERS if node.attributes.get(key))


def _check_inside(value: str, around: list[Path], home: ModelFolder, document: Document, node: XmlElement) -> list[Path]:
    """Where a file of that name is, of the folders in which MuJoCo may look for it, one of them first, whichever it is.

    So none of those that exist may be outside; nor all of them, if none exists.
    """
    label = f'{document.name}, line {node.line}: the path "{value}" of <{node.tag}>'
    odd = strange(value)
    if odd:
        raise ModelError(f"{label} {odd}.")
    places = list(dict.fromkeys(folder / value for folder in around))
    there = [place for place in places if os.path.exists(place)]
    outside = [leaves(home.folder, place) for place in there or places]
    if not home.options.allow_outside and (any(outside) if there else all(outside)):
        raise ModelError(f"{label} leaves the model's folder. Pass {argument('allow_outside', True)} if you trust this file.")
    return there


def _check_copies(root: XmlElement, file: str) -> None:
    """The product of counts inside each other."""
    waiting = [(root, 1)]
    while waiting:
        node, copies = waiting.pop()
        for number in node.attributes.get("count", "").split() if node.tag in ("replicate", "composite", "flexcomp") else []:
            copies *= int(number) if number.isdigit() else 1
        if copies > MOST_COPIES:
            raise ModelError(f"{file}, line {node.line}: it makes {copies} copies, and {MOST_COPIES} are the limit.")
        waiting.extend((child, copies) for child in node.children)
