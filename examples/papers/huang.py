"""Huang et al.: reactions from a Taylor expansion.   python examples/papers/huang.py [--short] [--out FOLDER]

The double pendulum (figures 8 and 9), the published method's order and its ringing, and the platform on three legs (figures 10
and 11) with a search for the published singular times. docs/papers shows it.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.papers.huang.taylor import integrate_reaction_taylor

PUBLISHED = (0.76, 1.32, 1.72)  # s, "where the kinematic singularity occurs"
SEARCH: dict[str, dict[str, Any]] = {
    "disc (2.5, 2.5, 5)": {},
    "as printed (2.5, 5, 2.5)": {"inertia": (2.5, 5.0, 2.5)},
    "disc, torque reversed": {"torque": -10.0},
    "disc, no gravity": {"gravity": (0.0, 0.0, 0.0)},
    "disc, half the torque": {"torque": 5.0},
    "disc, twice the torque": {"torque": 20.0},
}


def matrix_39(theta1: float, theta2: float, ratio: float = 4.0) -> np.ndarray:
    """(39) times 2m/dt^2, derived anew: what unit reactions move at the two joints; ratio = m d^2/J."""

    def block(theta: float, sign: float) -> np.ndarray:
        across = np.array([-np.sin(theta), np.cos(theta)])
        return np.eye(2) + sign * ratio * np.outer(across, across)

    near, far, second = block(theta1, 1.0), block(theta1, -1.0), block(theta2, 1.0)
    return np.block([[near, far], [far, near + second]])


def figure_9(short: bool) -> dict[str, Any]:
    """Both bars level and at rest; the paper's step of 1 ms, and its order."""
    model, duration = bc.load("double_pendulum"), 0.2 if short else 2.0
    start: dict[str, Any] = {"q": np.zeros(2), "v": np.zeros(2)}
    exact = bc.simulate(model, duration, step=0.01, method="dop853", rtol=1e-12, atol=1e-12, **start)
    print("Figure 9: the double pendulum from rest, both bars level; largest error of an angle, rad")
    found: dict[str, Any] = {"exact": exact}
    for method in ("reaction_taylor", "rattle"):
        errors = []
        for h in (2e-3, 1e-3) if short else (4e-3, 2e-3, 1e-3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bc.BellcrankWarning)
                run = bc.simulate(model, duration, step=0.02, max_step=h, method=method, **start)
            errors.append(float(np.abs(np.cumsum(run.values("q") - exact.values("q")[::2], axis=1)).max()))
        order = float(np.log2(errors[-2] / errors[-1]))
        found[method] = {"run": run, "errors": errors, "order": order}
        print(f"  {method:16} {', '.join(f'{x:.1e}' for x in errors)}   order {order:.2f}")
    found["reaction"] = float(
        np.abs(found["reaction_taylor"]["run"].values("reactions") - exact.values("reactions")[::2]).max()
    )
    largest = float(np.abs(exact.values("reactions")).max())
    print(f"  its own reactions are off by {found['reaction']:.2g} N of {largest:.0f} N at 1 ms")
    found["det"] = float(np.linalg.det(matrix_39(0.3, 0.3)))
    print(f"  det of (39) at theta1 = theta2: {found['det']:.6g} (dt^2/2m)^4; printed 9/2 dt^2, its matrix has 9 (dt^2/2)^4")
    return found


def ringing(short: bool) -> dict[str, Any]:
    """Velocities of the published method, without the projection: an error that changes its sign in every step."""
    model = bc.load("parallelogram")
    dyn = bc.compile(model, optimisation=0)
    first = {"q": model.initial_q, "v": model.initial_v, "tau": np.zeros(model.nv), "u": np.zeros(len(model.inputs))}
    times = np.linspace(0, 0.05 if short else 0.4, 26 if short else 201)
    found: dict[str, Any] = {"t": times}
    print("\nRinging: velocities that break the loops, m/s, from a start that is disturbed by 1e-6")
    for project in (False, True):
        given = first | {"v": first["v"] + 1e-6 * np.arange(1, model.nv + 1)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.BellcrankWarning)
            out = integrate_reaction_taylor(dyn, given, times, 2e-3, project=project)
        rate = dyn.closure(out.q, out.v, t=out.times)[1]
        worst = rate[:, np.abs(rate).max(axis=0).argmax()]
        found[project] = worst
        flips = float(np.mean(np.sign(worst[2:]) != np.sign(worst[1:-1])))
        found[f"flips {project}"] = flips
        what = f"{'with' if project else 'without'} projection: {np.abs(worst[1:]).max():.1e}"
        print(f"  {what}, sign changes in {100 * flips:.0f} % of the steps")
    return found


def platform(changes: dict[str, Any]) -> bc.Model:
    model = bc.load("stewart").with_parameters({"parameters.torque": changes.get("torque", 10.0)})
    from dataclasses import replace

    inertia = model.inertia.copy()
    if "inertia" in changes:
        inertia[model.body_names.index("platform")] = np.diag(changes["inertia"])
    return replace(model, inertia=inertia, gravity=np.array(changes.get("gravity", model.gravity)))


def smallest_singular_value(model: bc.Model, q: np.ndarray) -> float:
    """Of the closures' rows with unit length, over the samples: zero would be a singular position."""
    G = bc.compile(model, optimisation=0).closure_jacobian(q)
    return float(np.linalg.svd(G / np.linalg.norm(G, axis=2, keepdims=True), compute_uv=False)[:, -1].min())


def figure_11(short: bool) -> dict[str, Any]:
    """The platform: height and vertical velocity, and the times at which it passes the plane of its motors."""
    found: dict[str, Any] = {}
    duration = 0.3 if short else 2.0
    print(f"\nFigure 11: times at which the platform's height is zero (published kinks of vz: {PUBLISHED})")
    for name, changes in list(SEARCH.items())[: 1 if short else None]:
        model = platform(changes)
        run = bc.simulate(model, duration, step=0.01, rtol=1e-9, atol=1e-9)
        z = run.measures.sel(measure="height").values
        t = run.values("time")
        down = np.flatnonzero(np.sign(z[1:]) != np.sign(z[:-1]))
        zeros = [float(t[k] - z[k] * (t[k + 1] - t[k]) / (z[k + 1] - z[k])) for k in down]
        least = smallest_singular_value(model, run.values("q"))
        found[name] = {"run": run, "t": t, "z": z, "zeros": zeros, "least": least}
        print(f"  {name:26} {', '.join(f'{x:.3f}' for x in zeros) or 'none':26} smallest singular value {least:.3f}")
    exact, model = found["disc (2.5, 2.5, 5)"], platform({})
    found["taylor"], found["off"] = {}, {}
    for h in (0.02,) if short else (0.02, 0.002):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.BellcrankWarning)
            try:
                own = bc.simulate(model, duration, step=0.02, max_step=h, method="reaction_taylor")
            except bc.SimulationError as error:  # it grows without bound; what was computed until then is kept
                own = error.run
        t, z = own.values("time"), own.measures.sel(measure="height").values
        t, z = t[np.abs(z) < 2.0], z[np.abs(z) < 2.0]
        found["taylor"][h], found["off"][h] = (t, z), float(np.abs(z - np.interp(t, exact["t"], exact["z"])).max())
        print(f"  the published method, steps of {1e3 * h:g} ms: until {t[-1]:.2f} s, height off by {found['off'][h]:.1e} m")
    return found


def draw(pendulum: dict[str, Any], ring: dict[str, Any], stewart: dict[str, Any], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6), layout="constrained")
    ((a, b), (c, d)) = figure.subplots(2, 2)
    exact, own = pendulum["exact"], pendulum["reaction_taylor"]["run"]
    a.plot(exact.values("time"), exact.values("q").sum(axis=1), color="#bbbbbb", lw=4, label="dop853")
    a.plot(own.values("time"), own.values("q").sum(axis=1), color="#4477aa", label="reaction_taylor, 1 ms")
    a.set(title="figure 9: angle of link 2 (rad)", xlabel="t (s)")
    a.legend(frameon=False, fontsize=7)
    for k, name in ((0, "x"), (1, "y")):
        b.plot(own.values("time"), own.values("reactions")[:, 1, k], label=f"R2{name}")
        b.plot(exact.values("time"), exact.values("reactions")[:, 1, k], "k:", lw=1)
    b.set(title="reactions of joint 2 (N); dotted: dop853", xlabel="t (s)")
    b.legend(frameon=False, fontsize=7)
    for project, color in ((False, "#ee6677"), (True, "#4477aa")):
        c.plot(ring["t"], ring[project], color=color, lw=1, label=f"{'with' if project else 'without'} projection")
    c.set(title="ringing of the published method (m/s)", xlabel="t (s)", yscale="symlog")
    c.set_yscale("symlog", linthresh=1e-9)
    c.legend(frameon=False, fontsize=7)
    for name in [n for n in SEARCH if n in stewart][:2]:
        d.plot(stewart[name]["t"], stewart[name]["z"], label=f"height, {name}")
        d.plot(stewart[name]["t"], np.gradient(stewart[name]["z"], stewart[name]["t"]), ls="--", label=f"vz, {name}")
    for (h, (times, z)), style in zip(stewart["taylor"].items(), (":", "-."), strict=False):
        d.plot(times, z, "k", ls=style, lw=1, label=f"height, published method, {1e3 * h:g} ms")
    for t in PUBLISHED:
        d.axvline(t, color="#cccccc", lw=1)
    d.set(title="figure 11: platform; grey: published singular times", xlabel="t (s)")
    d.legend(frameon=False, fontsize=6)
    figure.savefig(file, dpi=110)


def main(short: bool, out: Path) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    found = {"pendulum": figure_9(short), "ringing": ringing(short), "stewart": figure_11(short)}
    draw(found["pendulum"], found["ringing"], found["stewart"], out / "huang.png")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few seconds, for tests")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    options = parser.parse_args()
    main(options.short, options.out)
