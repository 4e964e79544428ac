"""Contents of an MJCF model that are not simulated. They are listed, so that nothing is left out in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...model.spec.problems import names
from ..exchange.imported import ImportedParts

if TYPE_CHECKING:
    from .reader import Compiled

LISTED = 4  # names in a line


def list_rest(compiled: Compiled, assembly: ImportedParts) -> None:
    m = compiled.m
    if not compiled.disabled("constraint"):
        _limits(compiled, assembly)
        _contacts(compiled, assembly)
    left_out = assembly.unsimulated
    if m.opt.density or m.opt.viscosity:
        left_out.append(f"the medium: density {float(m.opt.density):g} kg/m3, viscosity {float(m.opt.viscosity):g} Pa s")
    if m.nsensor:
        left_out.append(f"sensors {names([compiled.name('sensor', i) for i in range(m.nsensor)], LISTED)}")
    if m.nmocap:
        stay = [compiled.name("body", b) for b in range(m.nbody) if int(m.body_mocapid[b]) >= 0]
        left_out.append(f"motions of the mocap bodies {names(stay, LISTED)}, which stay where they are")
    for count, one, several in (
        (m.nflex, "flexible body", "flexible bodies"),
        (m.nplugin, "plugin", "plugins"),
        (m.nskin, "skin", "skins"),
    ):
        if count:
            left_out.append(f"{count} {one if count == 1 else several}")


def _limits(compiled: Compiled, assembly: ImportedParts) -> None:
    m = compiled.m
    limited = [compiled.name("joint", j) for j in range(m.njnt) if m.jnt_limited[j] or m.jnt_actfrclimited[j]]
    if limited and not compiled.disabled("limit"):
        assembly.unsimulated.insert(0, f"limits of the joints {names(limited, LISTED)}")


def _contacts(compiled: Compiled, assembly: ImportedParts) -> None:
    m = compiled.m
    if compiled.disabled("contact"):
        return
    touching = np.flatnonzero((np.asarray(m.geom_contype) != 0) | (np.asarray(m.geom_conaffinity) != 0))
    if len(touching) + m.npair > 1:
        assembly.unsimulated.append(f"contacts of the geoms {names([compiled.name('geom', int(i)) for i in touching], LISTED)}")
