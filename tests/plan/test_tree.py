"""The order of the walk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.errors import ModelError
from bellcrank.plan import depth_first


@st.composite
def forests(draw):
    """Parents of a forest whose bodies are numbered in any order."""
    n = draw(st.integers(1, 30))
    parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
    place = draw(st.permutations(range(n)))
    shuffled = [0] * n
    for i, p in enumerate(parents):
        shuffled[place[i]] = place[p] if p >= 0 else -1
    return shuffled


@given(forests())
def test_every_body_comes_once_and_after_its_parent(parents):
    tree = depth_first(parents)
    assert sorted(tree.order) == list(range(len(parents))) and tree.n == len(parents)
    for k, body in enumerate(tree.order):
        assert tree.parent[k] < k
        assert parents[body] == (tree.order[tree.parent[k]] if tree.parent[k] >= 0 else -1)


@given(forests())
def test_the_first_child_follows_its_parent_and_a_subtree_is_one_stretch(parents):
    tree = depth_first(parents)
    for k, children in enumerate(tree.children):
        assert not children or children[0] == k + 1
        assert [tree.parent[c] for c in children] == [k] * len(children)
        assert list(children) == sorted(children)
    assert [tree.parent[k] for k in tree.roots] == [-1] * len(tree.roots)
    last = np.arange(tree.n)
    for k in reversed(range(tree.n)):
        if tree.parent[k] >= 0:
            last[tree.parent[k]] = max(last[tree.parent[k]], last[k])
    for k in range(tree.n):
        inside = range(k + 1, last[k] + 1)
        assert all(k <= tree.parent[j] <= last[k] for j in inside)


@given(forests())
def test_children_keep_the_order_of_the_file(parents):
    tree = depth_first(parents)
    for k, children in enumerate(tree.children):
        assert [tree.order[c] for c in children] == [b for b, p in enumerate(parents) if p == tree.order[k]]


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 2, 1], [-1, 0, 3, 4, 2]])
def test_a_circle_of_parents_is_an_error(parents):
    with pytest.raises(ModelError, match="are not connected to ground: their parents form a circle"):
        depth_first(parents)


def test_a_long_chain_is_no_deep_recursion():
    n = 20000
    assert depth_first(list(range(-1, n - 1))).order == tuple(range(n))
