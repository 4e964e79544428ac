"""A gradient through time beside MuJoCo's MJX and brax, differentiated by JAX on the processor: a double pendulum, by rk4.

    python bench/mjx_gradient.py [--steps 100]

d(angle at the end) by the two masses, forward, in double precision. Needs mujoco-mjx and the mujoco of its own version, which
need not be the one that other comparisons use: pip install --target DIR brax mujoco-mjx, then PYTHONPATH=DIR. Times are the
shortest of many, interleaved; compiling is told apart. Ours are calls of bc.sensitivity, with all that Python does around the
loop. brax (generalized) has semi-implicit Euler only: one evaluation in a step, where rk4 has four, and another result.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bellcrank as bc

STEP = 1e-3
XML = f"""<mujoco><option timestep="{STEP}" integrator="RK4" gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
<body name="a"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.8 0 0" size="0.02" mass="1"/>
<body name="b" pos="0.8 0 0"><joint type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.02" mass="1"/>
</body></body></worldbody></mujoco>"""


def ours(inertias: Any, steps: int) -> Callable[[], Any]:
    m = bc.Mechanism("double pendulum", gravity=(0, 0, -9.81))
    for name, x, length, inertia in (("a", 0.0, 0.8, inertias[0]), ("b", 0.8, 0.6, inertias[1])):
        m.body(name, 1.0, (x + length / 2, 0, 0), tuple(sorted(inertia)))  # the smallest about the bar itself
        m.joint(f"{name}_hinge", "revolute", "ground" if name == "a" else "a", name, (x, 0, 0), axis="y")
    model = m.build()
    design, given = bc.Design(model, ["a.mass", "b.mass"]), {"method": "rk4", "max_step": STEP, "step": steps * STEP}

    def gradient() -> Any:
        return bc.sensitivity(model, design, ["a_hinge@end"], steps * STEP, mode="forward", **given).d("a_hinge@end").values

    return gradient


def theirs(steps: int) -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    import jax
    import mujoco
    from mujoco import mjx

    jax.config.update("jax_enable_x64", True)
    model = mujoco.MjModel.from_xml_string(XML)
    on_device, start = mjx.put_model(model), mjx.put_data(model, mujoco.MjData(model))

    def final(masses: Any) -> Any:
        changed = on_device.replace(body_mass=on_device.body_mass.at[1:].set(masses))
        end, _ = jax.lax.scan(lambda d, _: (mjx.step(changed, d), None), start, None, length=steps)
        return end.qpos[0]

    run, slope = jax.jit(final), jax.jit(jax.jacfwd(final))
    masses = jax.numpy.ones(2)
    return model.body_inertia[1:], (lambda: run(masses).block_until_ready()), (lambda: slope(masses).block_until_ready())


def of_brax(steps: int) -> dict[str, Callable[[], Any]]:
    import jax
    from brax.generalized import pipeline
    from brax.io import mjcf

    numpy = jax.numpy
    system = mjcf.loads(XML.replace('integrator="RK4"', ""))

    def final(masses: Any) -> Any:
        inertia = system.link.inertia.replace(mass=masses)
        changed = system.replace(link=system.link.replace(inertia=inertia))
        start = pipeline.init(changed, system.init_q, numpy.zeros(2))
        idle = numpy.zeros(system.act_size())
        end, _ = jax.lax.scan(lambda state, _: (pipeline.step(changed, state, idle), None), start, None, length=steps)
        return end.q[0]

    run, slope, masses = jax.jit(final), jax.jit(jax.jacfwd(final)), numpy.ones(2)
    return {
        "brax run": lambda: run(masses).block_until_ready(),
        "brax gradient": lambda: slope(masses).block_until_ready(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    steps = parser.parse_args().steps
    try:
        inertias, run, slope = theirs(steps)
    except ImportError as missing:
        raise SystemExit(f"{missing}: see the top of this file") from None
    calls = {"bellcrank gradient": ours(inertias, steps), "mjx run": run, "mjx gradient": slope}
    try:
        calls |= of_brax(steps)
    except ImportError as missing:
        print(f"without brax: {missing}")
    first = {}
    for name, call in calls.items():
        began = time.perf_counter()
        found = np.asarray(call())
        first[name] = time.perf_counter() - began
        print(f"{name:20} first call {first[name]:8.2f} s   {found}", flush=True)
    shortest = dict.fromkeys(calls, np.inf)
    for _ in range(20):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            shortest[name] = min(shortest[name], time.perf_counter() - began)
    for name, x in shortest.items():
        print(f"{name:20} {1e3 * x:8.3f} ms, {x / shortest['bellcrank gradient']:6.2f} of ours", flush=True)


if __name__ == "__main__":
    main()
