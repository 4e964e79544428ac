"""d(acceleration) and d(reactions) by every kind of parameter, in machine code, against complex steps of the whole chain in
Python: every joint, every force element, everything that closes a loop, and loops with redundant equations. Runs likewise."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.quantities.momenta import hamilton
from tests.forces.test_every_formulation import HINGES, add_elements, loop, tree
from tests.machine.test_least_reactions import four_bar

from .complex_chain import STEP, Chain, by_kind

MOST = 4  # parameters of a kind
INERTIA = ((0.2, 0.02, 0.01), (0.02, 0.25, 0.03), (0.01, 0.03, 0.3))


def arm(m, name, at, kinds):
    """Bodies one on the other, beginning at ground."""
    parent = "ground"
    for k, (kind, axes) in enumerate(kinds):
        here = (at + 0.1 * k, 0.3 * k, 0.2 * k)
        body = f"{name}{k}"
        middle = (here[0] + 0.1, here[1] + 0.1, here[2] + 0.2)
        m.body(body, mass=1.0 + 0.3 * k, center=middle, inertia=INERTIA)
        m.joint(f"{name}_joint{k}", kind, parent, body, here, **axes)
        parent = body
    return parent, (at + 0.4, 0.9, 0.5)


WRIST = ("spherical", {})
ELBOW = ("universal", {"axis": (1, 0.2, 0), "axis2": (-0.2, 1, 0)})
SLIDE = ("prismatic", {"axis": (0.3, 0.5, 1)})
HINGE = ("revolute", {"axis": (0.3, 0.5, 1)})
SLEEVE = ("cylindrical", {"axis": (0.3, 0.5, 1)})
CLOSING = {
    "revolute": ((WRIST, ELBOW, SLIDE), {"axis": (0.2, 1, 0.1)}),
    "prismatic": ((WRIST, ELBOW, HINGE), {"axis": (0.2, 1, 0.1)}),
    "screw": ((WRIST, ELBOW, HINGE), {"axis": (0.2, 1, 0.1), "pitch": 0.1}),
    "fixed": ((WRIST, ELBOW, SLEEVE), {}),
    "universal": ((WRIST, SLEEVE), {"axis": (0.2, 1, 0), "axis2": (1, -0.2, 0)}),
    "cylindrical": ((WRIST, SLEEVE), {"axis": (0.2, 1, 0.1)}),
    "planar": ((WRIST, SLEEVE), {"axis": (0.2, 1, 0), "axis2": (1, -0.2, 0)}),
    "spherical": ((WRIST, SLEEVE), {}),
}
DRIVEN = {  # at the end of an arm that can still move
    "driven slide": ("prismatic", "=swing*t*t", None),
    "driven hinge": ("revolute", "=swing*t*t", None),
    "driven screw": ("screw", "=swing*t*t", None),
    "driven sleeve": ("cylindrical", {"slide": "=0.3*swing*t*t"}, None),
    "driven cardan": ("universal", {"first": "=swing*t*t", "second": "=0.2*swing*t*t"}, None),
    "driven table": ("planar", {"angle": "=swing*t*t", "x": "=0.1*swing*t*t", "y": "=0.2*swing*t"}, None),
    "driven ball": ("spherical", "=swing*t*t", (0.2, 1, 0.3)),
}


def closed(kind):
    """An arm whose end is tied to ground by a joint of one kind."""
    m = bc.Mechanism(kind, gravity=(0.5, -1.0, -9.0))
    kind, motion, motion_axis = DRIVEN.get(kind, (kind, None, None))
    chain, given = CLOSING[kind]
    chain = (WRIST, ELBOW, SLEEVE) if motion else chain
    end, at = arm(m, "a", 0.0, chain)
    m.parameter("swing", 0.1)
    m.joint("last", kind, "ground", end, at, cut=True, motion=motion, motion_axis=motion_axis, **given)
    return m.build()


def guided():
    """Rods, points on lines and planes, axes at right angles, couplers, gears, bevel gears, belts, a rack; a rod, a plane, a coupler
    and a slide that are driven."""
    m = bc.Mechanism("guided", gravity=(0.5, -1.0, -9.0))
    m.parameter("swing", 0.1)
    for k, kind in enumerate(("distance", "line", "right")):
        end, at = arm(m, kind, 2.0 * k, (WRIST, SLEEVE))
        here, away = (end, at), ("ground", (at[0] + 0.4, 0.9, 0.8))
        if kind == "distance":
            m.distance(kind, away, here)
            m.point_on_plane("plane", away, here, axis=(0.3, 1, 0.2), motion="=-0.18/sqrt(1.13) + swing*t*t")
        elif kind == "line":
            m.point_on_line(kind, ("ground", at), here, axis=(0.3, 1, 0.2))
            m.distance("driven", ("ground", (5.0, 3.0, 0.1)), here, motion="=sqrt(11.57) + swing*sin(t)")
        else:
            m.perpendicular(kind, away, here, axis=(1, 0, 0), axis2=(0, 1, 0.5))
            m.coincident("meeting", ("ground", at), here)
    for name, x in (("pinion", 20.0), ("wheel", 20.5), ("pulley", 22.0), ("rocker", 23.0)):
        m.body(name, mass=1.0, center=(x, 0.1, 0), inertia=(0.2, 0.2, 0.3))
        m.joint(f"{name}_axle", "revolute", "ground", name, (x, 0, 0), axis="z")
    m.gear("teeth", ["pinion", "wheel"], radii=[0.2, 0.3])
    m.belt("strap", ["wheel", "pulley"], radii=[0.4, 0.2])
    m.coupler("cam", ["rocker_axle", "pulley_axle"], table=[(-2.0, 0.3), (0.0, 0.0), (1.0, 0.4), (3.0, 1.0)])
    m.coupler("coupled", ["pinion_axle", "line_joint1.slide"], [1.0, -0.7], motion="=swing*(cos(t) - 1)")
    m.body("bar", mass=1.0, center=(22.0, -0.3, 0.1), inertia=INERTIA)
    m.joint("guide", "prismatic", "ground", "bar", (22.0, -0.4, 0), axis="x")
    m.rack("rack", "pulley", "bar", (22.3, -0.3, 0), helix_angle=0.2)
    m.body("crown", mass=1.0, center=(20.3, 0.1, 0), inertia=INERTIA)
    m.joint("crown_axle", "revolute", "ground", "crown", (20.4, 0, 0), axis="x")
    m.gear("bevel", ["pinion", "crown"], teeth=(12, 16), point=(20.15, 0, 0.2))
    m.body("ram", mass=1.0, center=(30.0, 0, 0.1), inertia=INERTIA)
    m.joint("push", "prismatic", "ground", "ram", (30.0, 0, 0), axis=(1, 0.2, 0), motion="=swing*t*t")
    return m.build()


def case(name):
    if name in CLOSING or name in DRIVEN:
        return closed(name), ()
    if name in ("tree", "loop"):
        m, bodies = (tree if name == "tree" else loop)()
        return add_elements(m, bodies, HINGES[name]), (0.8, 3.0)
    if name == "hinges that share a load":
        return four_bar("C"), ()
    return (guided() if name == "guided" else bc.load(name)), ()


SHARING = ("loop", "hinges that share a load")
CASES = ["every_joint", "tree", "loop", "guided", *CLOSING, *DRIVEN, SHARING[1]]


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_a_complex_step(name):
    model, inputs = case(name)
    kinds, rng = by_kind(model, 1 if name in DRIVEN else MOST), np.random.default_rng(5)
    if name in SHARING:
        del kinds["axis"]  # hinges that are not parallel hold each other fast
    names = [x for of in kinds.values() for x in of]
    dyn = bc.compile(model, design=bc.Design(model, names), optimisation=0)
    q, v = model.initial_q, model.initial_v + 0.3 * rng.normal(size=model.nv)
    found = dyn.sensitivity(q, v, inputs=inputs, t=0.3)
    chain, tolerance = Chain(dyn, q, v, inputs, 0.3), 1e-9 if model.closures else 1e-11
    held = [joint.mechanical for joint in model.joints]
    reactions = found.dreactions[held].reshape(-1, len(names))
    for kind, of in kinds.items():
        dp = np.where(np.isin(names, of), rng.normal(size=len(names)) * (np.abs(dyn.planned.design.start) + 0.1), 0.0)
        for ours, exact in zip((found.da @ dp, reactions @ dp), chain.all_of(dp), strict=True):
            np.testing.assert_allclose(
                ours, exact, rtol=0, atol=tolerance * np.abs(exact).max() + 1e-12, err_msg=kind, equal_nan=False
            )


def run_by_rk4(chain, data, h, steps):
    """The classical Runge-Kutta steps, on complex numbers: joints whose coordinates change as their velocities."""
    y, nv = np.array([*chain.state["q"], *chain.state["v"]], dtype=complex), len(chain.state["v"])

    def slope(t, x):
        a = chain.run(chain.dyn.program, data, q=x[:nv], v=x[nv:], t=[t])["a"]
        return np.concatenate([x[nv:], a])

    for t in h * np.arange(steps):
        k = [slope(t, y)]
        k += [slope(t + h / 2, y + h / 2 * k[-1])]
        k += [slope(t + h / 2, y + h / 2 * k[-1])]
        k += [slope(t + h, y + h * k[-1])]
        y = y + h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return y[:nv]


OF_RUNS = {
    "double_pendulum": ("shoulder.q@end", ["upper.mass", "knee.x", "lower.center.x", "lower.inertia.zz", "gravity.z"]),
    "four_bar": ("crank_pivot.q@end", ["parameters.density", "parameters.spin", "gravity.y"]),
}


@pytest.mark.parametrize("name", OF_RUNS)
def test_the_adjoint_of_a_run_is_that_of_a_complex_run(name):
    """Along one direction, by the same fixed steps, without a way back onto the closures."""
    model, (output, names) = bc.load(name), OF_RUNS[name]
    options = {"step": 0.05, "max_step": 0.01, "method": "rk4", "projection": "none"}
    found = bc.sensitivity(model, names, [output], 0.05, mode="adjoint", **options)
    assert found.settings["steps"] == 5
    dyn = bc.compile(model, design=bc.Design(model, names), optimisation=0)
    chain, dp = Chain(dyn, model.initial_q, model.initial_v), 0.1 + np.abs(found.at)
    q = run_by_rk4(chain, chain.data(dyn.plan, dp), 0.01, 5)
    place = model.q_names.index(output.partition(".")[0])
    assert found.value(output) == pytest.approx(q[place].real, rel=1e-12)
    assert found.d(output).values @ dp == pytest.approx(q[place].imag / STEP, rel=1e-10)


@pytest.mark.parametrize(("name", "names"), [("double_pendulum", ["knee.y", "upper.mass"]), ("slider_crank", ["parameters.r"])])
def test_in_canonical_form_velocities_and_rates_of_momenta_have_derivatives(name, names):
    """Partial ones at the same q and p; and total ones, which the change of p adds to."""
    model = bc.load(name)
    dyn = bc.compile(model, "canonical_momenta", design=bc.Design(model, names), optimisation=0)
    q, p = model.initial_q, dyn.momenta(model.initial_q, model.initial_v + 0.1)
    found, chain, ones = dyn.canonical_sensitivity(q, p), Chain(dyn, q, model.initial_v), np.ones(len(names))
    exact = chain.run(hamilton(dyn), chain.data(dyn.plan, ones), p=p)
    np.testing.assert_allclose(found.v, dyn.velocities(q, p), rtol=1e-12)
    np.testing.assert_allclose(found.rates, dyn.canonical_rates(q, p)[1], rtol=1e-12)
    for ours, name_of in ((found.dv, "v"), (found.drates, "pdot")):
        wanted = exact[name_of].imag / STEP
        np.testing.assert_allclose(ours @ ones, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    total = dyn.canonical_sensitivity([q], [p], dp=np.ones((model.nv, len(names))))
    moved = dyn.velocities(q, p + 1e-3) - dyn.velocities(q, p)  # linear in p
    np.testing.assert_allclose(total.dv[0, :, 0] - found.dv[:, 0], moved / 1e-3, rtol=1e-8, atol=1e-9)
