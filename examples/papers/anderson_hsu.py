"""Anderson & Hsu: fully recursive sensitivities.     python examples/papers/anderson_hsu.py [--short] [--out FOLDER]

What the paper shows, by Bellcrank: the cost of sensitivities over the length of a chain (figure 2), the double pendulum
(figure 3) and the histories of its sensitivities, exact, by the traditional form and by differences (figures 4 to 7); and, in
numbers, that all forms agree (Appendix A among them), and how far differences are off for any step. docs/papers shows it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.model import generators
from bellcrank.papers.sensitivities import by_matrices
from bellcrank.papers.sensitivities.chain import chain_of, links, slopes_of
from bellcrank.papers.sensitivities.counted import FORMS, crossover, operations
from bellcrank.papers.sensitivities.steps import study_steps

NAMES = ["parameters.L1", "parameters.L2", "parameters.MP", "parameters.MQ"]
PERTURBED = {"parameters.L1": 1e-5, "parameters.L2": 1e-5, "parameters.MP": 5e-4, "parameters.MQ": 1e-5}  # as in the paper
KINETIC = "energy.kinetic"


def figure_2(short: bool) -> dict[str, dict[str, Any]]:
    """Additions and multiplications of one evaluation with its derivatives by one parameter, over the length of the chain."""
    sizes = [1, 2] if short else [2, 3, 4, 5, 6, 8, 10, 12]
    counts = {form: [operations(form, n) for n in sizes] for form in FORMS}
    print("Figure 2: operations of accelerations and their derivatives by one parameter, chains of n pins")
    print("  n" + "".join(f"{form:>32}" for form in FORMS))
    for k, n in enumerate(sizes):
        print(f"{n:3d}" + "".join(f"{counts[form][k]:32d}" for form in FORMS))
    for form in list(FORMS)[:-1]:
        at = crossover(counts[form], counts["fully recursive"], sizes)
        print(f"  {form}: {'no crossover here' if at is None else f'the fully recursive form takes less from n = {at:.1f}'}")
    last = counts["fully recursive"][-2:]
    print(f"  the fully recursive form takes {(last[1] - last[0]) // (sizes[-1] - sizes[-2])} more for every further body")
    return {"sizes": {"n": sizes}, **{form: {"operations": counts[form]} for form in FORMS}}


def all_forms_agree() -> dict[str, float]:
    """On a chain of five bodies: largest differences from a complex step of the dense system, relative."""
    chain, rng = chain_of(generators.chain(5)), np.random.default_rng(0)
    slope = {name: rng.normal(size=np.shape(getattr(chain, name))) for name in ("position", "center", "mass", "inertia")}
    slope["inertia"] = slope["inertia"] + np.swapaxes(slope["inertia"], 1, 2)
    q, v, dq, dv = rng.normal(size=(4, 5))
    exact = _complex_step(chain, slope, q, v, dq, dv)
    found = {}
    print("\nd(acceleration) of a chain of five bodies, by a complex step and by")
    for name, form in FORMS.items():
        da = form(chain, [slope], q, v, dq[:, None], dv[:, None])[1][:, 0]
        found[name] = float(np.abs(da - exact).max() / np.abs(exact).max())
        print(f"  {name:32} {found[name]:.1e}")
    sums, recursions = (system(links(chain, slope, q, v, dq, dv)) for system in (by_matrices.by_sums, by_matrices.by_recursion))
    for what, one, other in zip("MK", sums, recursions, strict=True):
        found[f"Appendix A, {what}"] = float(np.abs(other.d - one.d).max() / np.abs(one.d).max())
        print(f"  Appendix A, d{what}/dp against sums       {found[f'Appendix A, {what}']:.1e}")
    return found


def _complex_step(chain: Any, slope: dict[str, Any], q: Any, v: Any, dq: Any, dv: Any) -> Any:
    from dataclasses import replace

    h = 1e-30
    other = replace(chain, **{name: getattr(chain, name) + 1j * h * slope[name] for name in slope})
    M, K = by_matrices.by_sums(links(other, None, q + 1j * h * dq, v + 1j * h * dv, 0 * q, 0 * q))
    return np.imag(np.linalg.solve(M.v, K.v)) / h


def histories(short: bool) -> dict[str, Any]:
    """Figures 4 to 7: derivatives of the kinetic energy, exact, by the traditional form, and by differences."""
    model, duration = bc.load("double_pendulum_particles"), 0.1 if short else 20.0
    run = {"step": duration / 200, "method": "dop853", "rtol": 1e-11, "atol": 1e-11}
    exact = bc.sensitivity(model, NAMES, [KINETIC], duration, control="all", **run)
    columns = []
    for name, h in PERTURBED.items():
        value = model.parameters[name]
        pair = [bc.simulate(model.with_parameters({name: value + s * h}), duration, **run).measure(KINETIC) for s in (1, -1)]
        columns.append((pair[0] - pair[1]) / (2 * h))
    found = {"exact": exact, "differences": np.column_stack(columns), "traditional": _traditional(model, exact, duration)}
    print(f"\nFigures 4 to 7: d(kinetic energy) over {duration:g} s, largest difference from the exact one, relative")
    slopes = np.asarray(exact.d(KINETIC))
    for name in ("traditional", "differences"):
        off = np.abs(found[name] - slopes).max(axis=0) / np.abs(slopes).max(axis=0)
        print(f"  {name:14}" + "".join(f"  {path.partition('.')[2]} {x:.1e}" for path, x in zip(NAMES, off, strict=True)))
        found[f"{name} off by"] = off
    return found


def _traditional(model: Any, exact: Any, duration: float) -> Any:
    """dK/dp with states and sensitivities integrated by scipy, accelerations by the traditional form."""
    from scipy.integrate import solve_ivp

    design = bc.Design(model, NAMES)
    chain, slopes, n, p = chain_of(model), slopes_of(design), model.nv, len(NAMES)

    def rates(_t: float, x: Any) -> Any:
        q, v, dq, dv = x[:n], x[n : 2 * n], *np.split(x[2 * n :].reshape(2 * n, p), 2)
        a, da = by_matrices.sensitivities(chain, slopes, q, v, dq, dv, along="coordinates")
        return np.concatenate([v, a, dv.ravel(), da.ravel()])

    begin = np.concatenate([model.initial_q, model.initial_v, np.zeros(2 * n * p)])
    found = solve_ivp(rates, (0.0, duration), begin, "DOP853", exact.time, rtol=1e-8, atol=1e-8).y.T
    q, v = found[:, :n], found[:, n : 2 * n]
    dq, dv = (part.reshape(-1, n, p) for part in np.split(found[:, 2 * n :], 2, axis=1))
    dynamics = bc.compile(model, design=design, optimisation=0)
    return dynamics.sensitivity(q, v, dq=dq, dv=dv).measures([KINETIC])[:, 0]


def steps() -> Any:
    """How far differences are off, for any step."""
    model = bc.load("double_pendulum_particles")
    dynamics = bc.compile(model, design=bc.Design(model, NAMES[::2]), optimisation=0)
    found = study_steps(dynamics, [0.3, -0.5], [1.0, 2.0])
    print(
        "\nd(acceleration) of the double pendulum: how far differences are off, relative; a complex step is exact to rounding"
    )
    print(found)
    return found


def draw(counted: dict[str, dict[str, Any]], pendulum: dict[str, Any], differences: Any, out: Path) -> list[Path]:
    from matplotlib.figure import Figure

    from bellcrank.results.plots import PALETTE, tidy

    files = [out / f"anderson_hsu_figure_{k}.png" for k in range(2, 8)] + [out / "anderson_hsu_steps.png"]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for form, color in zip(FORMS, PALETTE, strict=False):
        axes.loglog(counted["sizes"]["n"], counted[form]["operations"], "o-", color=color, label=form)
    axes.set_xticks(counted["sizes"]["n"], [str(n) for n in counted["sizes"]["n"]])
    axes.minorticks_off()
    tidy(axes)
    axes.set(xlabel="bodies n", ylabel="additions and multiplications", title="One evaluation with one sensitivity")
    axes.legend()
    figure.savefig(files[0])
    bc.load("double_pendulum_particles").draw(path=files[1])
    exact = pendulum["exact"]
    for k, (name, file) in enumerate(zip(NAMES, files[2:6], strict=True)):
        figure = Figure(figsize=(7, 3), layout="constrained")
        axes = figure.subplots()
        axes.set_prop_cycle(color=PALETTE)
        axes.plot(exact.time, exact.d(KINETIC)[:, k], label="fully recursive, exact")
        axes.plot(exact.time[::4], pendulum["traditional"][::4, k], "x", ms=5, label="traditional form")
        axes.plot(exact.time[2::4], pendulum["differences"][2::4, k], "o", mfc="none", ms=4, label="finite differences")
        symbol = name.partition(".")[2]
        axes.set(xlabel="time (s)", ylabel=f"d(kinetic energy)/d({symbol}) ({'J/m' if symbol.startswith('L') else 'J/kg'})")
        tidy(axes)
        axes.legend(fontsize="small", frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        figure.savefig(file)
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    for way, style in (("forward", "o--"), ("central", "o-")):
        for name, errors in zip(differences.parameters, getattr(differences, way).T, strict=True):
            axes.loglog(differences.steps, errors, style, ms=3, label=f"{way}, {name.partition('.')[2]}")
    axes.set(xlabel="step, relative to the parameter", ylabel="relative error of the derivatives")
    tidy(axes)
    axes.legend(fontsize="small")
    figure.savefig(files[6])
    return files


def main(short: bool = False, out: Path = Path()) -> dict[str, Any]:
    counted, forms = figure_2(short), all_forms_agree()
    pendulum, differences = histories(short), steps()
    files = draw(counted, pendulum, differences, out)
    print("\n" + "\n".join(f"wrote {file.name}" for file in files))
    return {"figure_2": counted, "forms": forms, "histories": pendulum, "steps": differences, "files": files}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="the same in seconds, with fewer points")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the pictures")
    asked = parser.parse_args()
    main(asked.short, asked.out)
