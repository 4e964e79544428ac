"""The files that an MJCF model would make MuJoCo open, looked at beforehand: none outside the model's folder, no bombs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import ModelError
from .files import read_bytes
from .inside import leaves, strange
from .markup import Node, parse
from .options import Options

FOLDERS = ("assetdir", "meshdir", "texturedir")
MOST_INCLUDED = 200
MOST_COPIES = 100_000  # bodies that <replicate> and <composite> may make


def check_files(root: Node, file: str, options: Options, *, from_text: bool) -> None:
    """Raises ModelError for a file that is outside, for includes in a ring, and for copies without end."""
    folder = Path(file).parent
    documents = list(_included(root, file, folder, options, from_text=from_text))
    around = [Path("."), *(Path(value) for node, _ in documents for value in _folders(node))]
    for document, name in documents:
        _check_copies(document, name)
        for node in document.walk():
            for key, value in node.attributes.items():
                if key in FOLDERS and value:
                    _check_inside(value, folder, [Path(".")], name, node, options)
                elif key.startswith("file") and node.tag != "include" and value:
                    if from_text:
                        where = f"{name}, line {node.line}"
                        raise ModelError(
                            f'{where}: it needs the file "{value}", but a text has no folder. Load it from a file.'
                        )
                    _check_inside(value, folder, around, name, node, options)


def _included(root: Node, file: str, folder: Path, options: Options, *, from_text: bool) -> Iterator[tuple[Node, str]]:
    """The document and all that it includes or attaches, each once."""
    waiting, seen = [(root, file)], {Path(file).name}
    count = 0
    while waiting:
        document, name = waiting.pop()
        yield document, name
        for node in document.walk():
            inner = node.attributes.get("file", "")
            if node.tag != "include" and not (node.tag == "model" and inner):
                continue
            count += 1
            if from_text or count > MOST_INCLUDED:
                why = "a text has no folder" if from_text else f"more than {MOST_INCLUDED} files are included"
                raise ModelError(f'{name}, line {node.line}: it includes "{inner}", but {why}.')
            _check_inside(inner, folder, [Path(".")], name, node, options)
            path = folder / inner
            if node.tag == "model":  # MuJoCo looks for it in the folder of assets too
                places = [folder / inside / inner for inside in (".", *_folders(document))]
                path = next((place for place in places if place.is_file()), path)
            if inner not in seen:
                seen.add(inner)
                waiting.append((parse(read_bytes(path), str(path)), str(path)))


def _folders(root: Node) -> Iterator[str]:
    for node in root.walk():
        if node.tag == "compiler":
            yield from (node.attributes[key] for key in FOLDERS if node.attributes.get(key))


def _check_inside(value: str, folder: Path, around: list[Path], name: str, node: Node, options: Options) -> None:
    label = f'{name}, line {node.line}: the path "{value}" of <{node.tag}>'
    odd = strange(value)
    if odd:
        raise ModelError(f"{label} {odd}.")
    if not options.allow_outside and any(leaves(folder, folder / inner / value) for inner in around):
        raise ModelError(f"{label} leaves the model's folder. Pass allow_outside=True if you trust this file.")


def _check_copies(root: Node, file: str) -> None:
    """The product of counts inside each other."""
    waiting = [(root, 1)]
    while waiting:
        node, copies = waiting.pop()
        for number in node.attributes.get("count", "").split() if node.tag in ("replicate", "composite", "flexcomp") else []:
            copies *= int(number) if number.isdigit() else 1
        if copies > MOST_COPIES:
            raise ModelError(f"{file}, line {node.line}: it makes {copies} copies, and {MOST_COPIES} are the limit.")
        waiting.extend((child, copies) for child in node.children)
