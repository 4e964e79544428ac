"""Checks of a URDF before anything is read: names, types, ends and numbers, missing and duplicate entries.

The reader behind this, yourdfpy, gives no line numbers and fills in what is missing: 1 kg m2 for a moment of inertia.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...model import Problems, Where
from ...model.spec.problems import brief
from ...wording import together
from ..exchange.markup import XmlElement
from ..exchange.numerals import is_macro, numerals

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
MOMENTS, PRODUCTS = ("ixx", "iyy", "izz"), ("ixy", "ixz", "iyz")
NUMBERS: dict[str, dict[str, int]] = {  # attributes that are numbers, and how many
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys((*MOMENTS, *PRODUCTS), 1),
    "limit": dict.fromkeys(("lower", "upper", "velocity", "effort"), 1),
    "dynamics": dict.fromkeys(("damping", "friction"), 1),
    "mimic": dict.fromkeys(("multiplier", "offset"), 1),
}
UNLIMITED = {"limit"}  # where infinity makes sense
ONCE = {"link": ("inertial",), "inertial": ("origin", "mass", "inertia"), "joint": ("parent", "child", *NUMBERS)}


def check(root: XmlElement, file: str) -> None:
    """Raises ModelError with all that is wrong."""
    problems = Problems()
    for tag in ("link", "joint"):
        seen: set[str] = set()
        for node in root.all(tag):
            name = node.attributes.get("name", "")
            where = Where(file, node.line)
            if not name:
                problems.add(f"a {tag} has no name. Give it one.", where)
            elif is_macro(name):
                problems.add(f"the name {brief(name)} of a {tag} is a macro. Run xacro first, and load what it writes.", where)
            elif name in seen:
                problems.add(f'there are two {tag}s "{name}". Rename one of them.', where)
            seen.add(name)
            for inner in node.walk():
                _check_numbers(inner, f'{tag} "{name}"', Where(file, inner.line), problems)
    if not root.all("link"):
        problems.add("the robot has no link. Give it one at least.", Where(file, root.line))
    links = {node.attributes.get("name") for node in root.all("link")}
    for node in root.all("joint"):
        _check_joint(node, links, Where(file, node.line), problems)
    problems.raise_if_any()


def _check_numbers(node: XmlElement, label: str, where: Where, problems: Problems) -> None:
    for key, count in NUMBERS.get(node.tag, {}).items():
        text = node.attributes.get(key)
        if text is None:
            continue
        values = numerals(text) or []
        finite = all(math.isfinite(x) or (node.tag in UNLIMITED and not math.isnan(x)) for x in values)
        if len(values) != count or not finite:
            wanted = "a finite number" if count == 1 else f"{count} finite numbers"
            remedy = "Run xacro first, and load what it writes" if is_macro(text) else f"Give {wanted}"
            problems.add(f"{label}: {key} of its {node.tag} is {brief(text)}. {remedy}.", where)


def _check_joint(node: XmlElement, links: set[str | None], where: Where, problems: Problems) -> None:
    label = f'joint "{node.attributes.get("name", "")}"'
    kind = node.attributes.get("type")
    if kind not in KINDS:
        problems.add(f'{label}: there is no joint type "{kind}". Choose from {", ".join(KINDS)}.', where)
    for role in ("parent", "child"):
        found = node.all(role)
        link = found[0].attributes.get("link") if found else None
        if link is None:
            problems.add(f'{label} has no {role}. Name a link: <{role} link="..."/>.', where)
        elif link not in links:
            known = [name for name in links if name]
            problems.add(f'{label}: its {role} "{link}" is not a link.{problems.suggest(link, known)}', where)
    for axis in node.all("axis") if kind not in ("fixed", "floating") else []:
        if not any(numerals(axis.attributes.get("xyz", "1 0 0")) or [math.nan]):  # what is not a number has been complained of
            problems.add(f"{label}: its axis is zero. Give it a direction.", where)
    for mimic in node.all("mimic"):
        if not mimic.attributes.get("joint"):
            problems.add(f'{label}: its <mimic> names no joint. Name one: <mimic joint="..."/>.', where)


# --- what is missing, or there twice


def unknown_inertias(root: XmlElement, file: str) -> Iterator[tuple[str, str]]:
    """Links whose mass or moments of inertia the file does not give, though it has an <inertial>, with the reason."""
    for link in root.all("link"):
        name = link.attributes["name"]
        for inertial in link.all("inertial")[:1]:
            mass, inertia = (next(iter(inertial.all(tag)), None) for tag in ("mass", "inertia"))
            missing = [] if mass is not None and "value" in mass.attributes else ['<mass value="..."/>']
            if inertia is None:
                missing.append("<inertia>")
            else:
                missing += [f"{key} of its <inertia>" for key in MOMENTS if key not in inertia.attributes]
            if missing:
                yield name, f'{Where(file, inertial.line)}: link "{name}" lacks {together(missing)}.'


def peculiar(root: XmlElement) -> Iterator[str]:
    """Things that a file leaves out or says twice, and how they are read, which is as ROS reads them."""
    for owner in (*root.all("link"), *root.all("joint")):
        label = f'{owner.tag} "{owner.attributes["name"]}"'
        for node in (owner, *owner.all("inertial")[:1]):
            for tag in ONCE[node.tag]:
                several = node.all(tag)
                if len(several) > 1:
                    yield f"{_line(several[1])}: {label} has {len(several)} <{tag}>, of which the first counts"
    for link in root.all("link"):
        for inertia in (node for inertial in link.all("inertial")[:1] for node in inertial.all("inertia")[:1]):
            missing = [key for key in PRODUCTS if key not in inertia.attributes]
            if missing:
                yield f'{_line(inertia)}: link "{link.attributes["name"]}" lacks {together(missing)}, which count as zero'
    for joint in root.all("joint"):
        if joint.attributes["type"] in ("revolute", "prismatic") and not joint.all("limit"):
            label = f'joint "{joint.attributes["name"]}", which is {joint.attributes["type"]}'
            yield f"{_line(joint)}: {label}, has no <limit>, and is taken to have no limits"


def _line(node: XmlElement) -> str:
    return f"line {node.line}"
