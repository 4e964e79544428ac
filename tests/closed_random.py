"""Random closed mechanisms in motion, for hypothesis: trees of 7 to 12 bodies with one to three closures of any kinds."""

from __future__ import annotations

from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from bellcrank.model import Model

from .closed import doubled, random_closed
from .closed_states import Unfit, moving
from .closed_table import EACH_KIND


@st.composite
def moving_mechanisms(draw: Any) -> tuple[Model, dict[str, Any]]:
    """A model and a state whose loops are closed; some stand on a free joint, some have driven joints, some are there twice."""
    n, seed = draw(st.integers(7, 12)), draw(st.integers(0, 10_000))
    kinds = draw(st.lists(st.sampled_from(list(EACH_KIND)), min_size=1, max_size=3))
    free, driven = draw(st.booleans()), draw(st.sampled_from([0.0, 0.2]))
    twice = draw(st.booleans())
    try:
        model = random_closed(n, seed, tuple(kinds), free_root=free, driven=driven, loads=True)
        model = doubled(model) if twice else model
        return model, moving(model, seed, reach=0.2)
    except Unfit:
        reject()
