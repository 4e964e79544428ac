"""The line of a key is the line where a reader of the file finds it."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.io.native.lines import key_lines


def paths(value, path=()):
    """Every path of a parsed text; arrays of plain values count as one value."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            if isinstance(inner, dict | list):
                yield from paths(inner, (*path, i))


CASES = {
    "plain keys and comments": (
        "# a = 1\n\na = 1 # = [\nb = 'x'\n",
        {("a",): 3, ("b",): 4},
    ),
    "tables": (
        "[t]\na = 1\n[t.u]\nb = 2\n\n[ v . w ]\nc = 3\n",
        {("t",): 1, ("t", "a"): 2, ("t", "u", "b"): 4, ("v",): 6, ("v", "w"): 6, ("v", "w", "c"): 7},
    ),
    "arrays of tables": (
        "[[t]]\na = 1\n[[t]]\na = 2\n[t.u]\nb = 3\n[[t.w]]\nc = 1\n[[t.w]]\nc = 2\n",
        {("t",): 1, ("t", 0, "a"): 2, ("t", 1): 3, ("t", 1, "a"): 4, ("t", 1, "u", "b"): 6, ("t", 1, "w", 1, "c"): 10},
    ),
    "dotted keys": (
        "a.b.c = 1\na.b.d = 2\n[t]\nx . y = 3\n",
        {("a",): 1, ("a", "b"): 1, ("a", "b", "d"): 2, ("t", "x", "y"): 4},
    ),
    "inline tables": (
        "a = 1\nt = { x = 1, u = { y = [1, 2] } }\nb = 2\n",
        {("t",): 2, ("t", "x"): 2, ("t", "u", "y"): 2, ("b",): 3},
    ),
    "arrays over several lines": (
        "m = [\n  [1, 2], # ]\n  [3,\n   4],\n]\nb = 2\n",
        {("m",): 1, ("m", 0): 2, ("m", 1): 3, ("b",): 6},
    ),
    "inline tables in arrays": (
        "p = [\n  { x = 1 },\n  { x = 2 },\n]\nb = 1\n",
        {("p", 0, "x"): 2, ("p", 1, "x"): 3, ("b",): 5},
    ),
    "strings that look like TOML": (
        "a = \"[x] = { # \\\" '\"\nb = '[y]\\'\nc = 1\n",
        {("a",): 1, ("b",): 2, ("c",): 3},
    ),
    "strings over several lines": (
        'a = """\n[x]\ny = 1 \\""" "" \n"""""\nb = \'\'\'\n[z]\n\'\' \'\'\'\nc = ["""\n]""", "]"]\nd = 1\n',
        {("a",): 1, ("b",): 5, ("c",): 8, ("d",): 10},
    ),
    "quoted keys": (
        '"a b" = 1\n\'c.d\' = 2\n["e]".f]\n"\\u0067\\"" = 3\n',
        {("a b",): 1, ("c.d",): 2, ("e]",): 3, ("e]", "f", 'g"'): 4},
    ),
    "dates, numbers and truth": (
        "a = 1979-05-27T07:32:00Z\nb = +1_000.5e-3\nc = true\nd = inf\ne = 1979-05-27 07:32:00 # x\nf = 0xff\n",
        {("a",): 1, ("b",): 2, ("c",): 3, ("d",): 4, ("e",): 5, ("f",): 6},
    ),
    "lines that end in CR LF": ("a = 1\r\n\r\n[t]\r\nb = 2\r\n", {("a",): 1, ("t",): 3, ("t", "b"): 4}),
    "no newline at the end": ("[t]\nb = 2", {("t", "b"): 2}),
    "nothing": ("", {}),
}


@pytest.mark.parametrize("case", CASES)
def test_lines_are_where_a_reader_finds_the_keys(case):
    text, expected = CASES[case]
    lines = key_lines(text)
    assert {path: lines.get(path) for path in expected} == expected
    assert set(paths(tomllib.loads(text))) <= set(lines)


def test_a_text_that_was_not_parsed_before_is_refused():
    with pytest.raises(ValueError, match="no TOML at character 4"):
        key_lines("a = , 1")


KEYS = st.text("ab.]\"'#= \\é", max_size=3)
SCALARS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text("ab[]{}\"'#=,\n\\", max_size=8),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))
TABLES = st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=4)


def quoted(text):
    escaped = "".join(f"\\u{ord(c):04x}" if c in '"\\\n' or ord(c) < 32 else c for c in text)
    return f'"{escaped}"'


def written(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if value and "'" not in value and "\n" in value:
            return f"'''\n{value}'''"
        return quoted(value)
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quoted(key)} = {written(inner)}" for key, inner in value.items()) + " }"
    return repr(value)


@given(TABLES)
def test_every_key_of_any_text_has_its_line(tables):
    text, expected = "", {}
    for name, table in tables.items():
        expected[name,] = text.count("\n") + 1
        text += f"[{quoted(name)}]\n"
        for key, value in table.items():
            expected[name, key] = text.count("\n") + 1
            text += f"{quoted(key)} = {written(value)}\n"
    assert tomllib.loads(text) == tables
    lines = key_lines(text)
    assert {path: lines[path] for path in expected} == expected
    assert set(paths(tables)) <= set(lines)
