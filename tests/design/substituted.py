"""Dynamics whose arrays are those of a design."""

from dataclasses import replace

from bellcrank.dynamics import Dynamics


def at_design(dynamics, arrays):
    """The same plan with other numbers, by the same machine code."""
    plan = dynamics.planned.plan
    loads, closing = plan.loads, plan.loads.closing
    get = arrays.get
    closing = replace(closing, data=get("closure_data", closing.data), factors=get("factors", closing.factors))
    motion, element = get("motion_data", loads.motion_data), get("element_data", loads.element_data)
    loads = replace(loads, motion_data=motion, element_data=element, pool=get("pool", loads.pool), closing=closing)
    frames = replace(plan.frames, rotation=get("rotation", plan.frames.rotation))
    other = replace(plan, data=get("data", plan.data), gravity=get("gravity", plan.gravity), loads=loads, frames=frames)
    return Dynamics.of(replace(dynamics.planned, plan=other), 0)
