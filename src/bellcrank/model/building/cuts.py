"""What is wrong with the joints that close loops: a joint that is cut has equations instead of coordinates."""

from __future__ import annotations

from ..spec.items import GROUND, Where
from ..spec.problems import Problems, names
from ..spec.spec import JointSpec, Spec
from .checks import armature_of
from .tree import SpanningTree

LOOPS_NAMED = 20  # finding the joints of a loop may take a walk through the whole model


def check_cuts(spec: Spec, tree: SpanningTree, problems: Problems) -> None:
    """Complains of cuts that cannot be made, and of what a joint that is cut cannot have."""
    for joint, body in zip((spec.joints[j] for j in tree.joints), tree.carried, strict=True):
        if joint.cut:
            text = (
                f'joint "{joint.name}" has cut = true, but without it "{body}" is not connected to {GROUND}. Remove cut = true.'
            )
            problems.add(text, joint.where.at("cut"), joint.name)
    loops = _Loops(spec, tree)
    for joint in (spec.joints[j] for j in tree.closing):
        _check_joint(joint, loops, problems)
        if joint.name in loops.starts and joint.motion is None:
            _check_start(joint, loops.starts[joint.name], loops, problems)


def _check_joint(joint: JointSpec, loops: _Loops, problems: Problems) -> None:
    if joint.cut is False:
        key, text = "cut", "and has cut = false, but one of them must be cut. Remove it from one."
    elif joint.kind == "free" and joint.motion is None:
        key, text = "type", f"but is free and constrains nothing. Remove it, or write cut = true in {loops.others(joint)}."
    elif joint.kind == "free":
        key, text = "motion", f"and a free joint cannot when it is driven. Write cut = true in {loops.others(joint)}."
    elif any(armature_of(joint, 1)):
        key, text = "armature", f"and has no coordinate of its own for an armature. Write cut = true in {loops.others(joint)}."
    else:
        return
    problems.add(f'joint "{joint.name}" closes a loop with {loops.named(joint)}, {text}', joint.where.at(key), joint.name)


def _check_start(joint: JointSpec, where: Where, loops: _Loops, problems: Problems) -> None:
    what = f'[initial] gives "{joint.name}", which closes a loop with {loops.named(joint)} and has no coordinate of its own'
    problems.add(f"{what}. Remove it there, or write cut = true in {loops.others(joint)}.", where, joint.name)


class _Loops:
    """Names of the joints of loops, for messages."""

    def __init__(self, spec: Spec, tree: SpanningTree) -> None:
        self.spec, self.tree = spec, tree
        self.starts = {start.joint: start.where for start in spec.initial}
        self._found: dict[str, list[JointSpec]] = {}

    def named(self, joint: JointSpec) -> str:
        return names([other.name for other in self._of(joint)]) or "other joints"

    def others(self, joint: JointSpec) -> str:
        """Joints of the loop that nothing keeps from being cut instead."""
        easy = [other.name for other in self._of(joint) if self._easy(other)]
        return " or ".join(f'"{name}"' for name in easy[:3]) or "one of these"

    def _easy(self, joint: JointSpec) -> bool:
        spoken_of = joint.name in self.starts or joint.motion is not None or joint.cut is False
        return not spoken_of and not any(armature_of(joint, 1)) and joint.kind != "free"

    def _of(self, joint: JointSpec) -> list[JointSpec]:
        if joint.name not in self._found:
            known = len(self._found) < LOOPS_NAMED
            self._found[joint.name] = [self.spec.joints[j] for j in self.tree.loop(joint)] if known else []
        return self._found[joint.name]
