"""Which format a file has: recognised by its content, not by its name."""

from __future__ import annotations

import re

from ..errors import ModelError
from .exchange.markup import XmlElement, is_markup, parse

NATIVE = re.compile(r"^[ \t]*format[ \t]*=", re.MULTILINE)
ROOTS = {"mujoco": "mjcf", "robot": "urdf"}
KINDS = "a native model (TOML with format = 1), MJCF (<mujoco>) or URDF (<robot>)"
PARTS = {
    "mujocoinclude": "a part of an MJCF model. Load the file that includes it.",
    "sdf": "SDF, which is not read. Convert it to URDF or MJCF.",
    "COLLADA": "a mesh. Name a model file.",
}


def recognise(data: bytes, file: str) -> tuple[str, XmlElement | None]:
    """ "toml", "mjcf" or "urdf", and the root of XML; raises ModelError for what is none of them."""
    if not data.strip():
        raise ModelError(f"{file}: the file is empty. Give {KINDS}.")
    if not is_markup(data):
        if file.lower().endswith(".toml") or NATIVE.search(data[:100_000].decode("utf-8", "replace")):
            return "toml", None
        raise ModelError(f"{file}: this kind of file is not read. Give {KINDS}.")
    root = parse(data, file)
    if root.tag in PARTS:
        raise ModelError(f"{file}: this is {PARTS[root.tag]}")
    if root.tag not in ROOTS:
        raise ModelError(f"{file}: XML with the root <{root.tag}> is not a model. Give {KINDS}.")
    macro = next((node for node in root.walk() if node.tag.startswith("xacro:")), None)
    if macro is not None:
        raise ModelError(f"{file}, line {macro.line}: <{macro.tag}> is a macro. Run xacro first, and load what it writes.")
    return ROOTS[root.tag], root
