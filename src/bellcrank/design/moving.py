"""The plan of a design at other values of its parameters. Its structure, recordings and machine code are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..machine.tangents.data import design_data
from ..model import Model
from ..plan import Plan
from ..plan.nodes.tables import Nodes

Array = NDArray[np.float64]


def moved_plan(plan: Plan, model: Model, arrays: Mapping[str, Array]) -> Plan:
    """The plan with other numbers: ``arrays`` as ``Design.arrays`` gives them; ``model``: the one with the same values."""

    def of(name: str, own: Array) -> Array:
        return arrays[name].reshape(own.shape) if name in arrays else own

    loads, closing, measures = plan.loads, plan.loads.closing, plan.loads.measures
    closing = replace(
        closing,
        data=of("closure_data", closing.data),
        factors=of("factors", closing.factors),
        given_factors=of("given_factors", closing.given_factors),
        action_data=of("action_data", closing.action_data),
    )
    loads = replace(
        loads,
        motion_data=of("motion_data", loads.motion_data),
        element_data=of("element_data", loads.element_data),
        pool=of("pool", loads.pool),
        closing=closing,
        measures=replace(measures, data=of("measure_data", measures.data)),
    )
    frames = replace(plan.frames, rotation=of("rotation", plan.frames.rotation))
    data, gravity = of("data", plan.data), of("gravity", plan.gravity)
    nodes = _of_nodes(plan, design_data(plan, arrays))
    return plan.with_numbers(model=model, frames=frames, data=data, gravity=gravity, loads=loads, nodes=nodes)


def _of_nodes(plan: Plan, rows: Mapping[str, Array]) -> Nodes | None:
    """What nodes read of bodies and closures follows from them."""
    if plan.nodes is None:
        return None
    nodes = plan.nodes
    bodies, closures = (
        rows[name][0].reshape(own.shape) if name in rows else own
        for name, own in (("node_body_data", nodes.shared_bodies), ("node_closure_data", nodes.shared_closures))
    )
    return replace(nodes, shared_bodies=bodies, shared_closures=closures)
