"""One table of deliberate mistakes in formulas, tables, units, measures, forces, motions, constructions, bodies, gears and states.

Each is added to a model that is right; the error is one line with the place and what to do, and never a traceback. The table
(mistakes.txt) has blocks of what is added and what is said, which may end with "..."
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bellcrank as bc
from tests.model.test_mistakes_in_formulas import MODEL

MISTAKES = [block.split("\n-> ") for block in Path(__file__).with_name("mistakes.txt").read_text().strip().split("\n\n")]


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_one_line_with_its_place_and_a_remedy(text, said):
    with pytest.raises(bc.ModelError) as caught:
        bc.load(MODEL + text)
    message = str(caught.value)
    assert re.match(r"model text, line \d+: ", message) and "\n" not in message
    assert message.startswith(f"model text, {said.removesuffix('...')}") and (said.endswith("...") or message.endswith(said))


def test_there_are_200_distinct_mistakes_with_200_distinct_messages():
    """Two messages are the same if they differ in names and numbers only."""
    kinds = {re.sub(r"\"[^\"]*\"|'[^']*'|[\d.]+", "_", said) for _, said in MISTAKES}
    assert len({text for text, _ in MISTAKES}) == len(MISTAKES) >= 270 and len(kinds) >= 200
