"""Files that mean harm, or that went wrong: a clear ModelError each, no traceback of ours, no hang."""

import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bellcrank.errors import ModelError
from bellcrank.io import gallery, load

from ..growth import growth

GOOD = (
    'format = 1\n[parameters]\np = 1\n[bodies.bob]\npoint_mass = { at = [0, 0, -1], mass = "=p" }\n[joints.hinge]\n'
    'type = "revolute"\nparent = "ground"\nchild = "bob"\npoint = [0, 0, 0]\naxis = "y"\n'
)


def chain_of_parameters(n):
    return "p0 = 1\n" + "".join(f'p{i} = "=p{i - 1} + 1"\n' for i in range(1, n)) + f'p = "=p{n - 1}"\n'


def ring_of_parameters(n):
    return "".join(f'p{i} = "=p{(i + 1) % n}"\n' for i in range(n)) + 'p = "=p0"'


HOSTILE = {
    "import": ('p = "=__import__(1)"', "there is no function"),
    "import of text": ("p = \"=__import__('os').system('ls')\"", "has no meaning here"),
    "attributes": ('p = "=p.__class__.__mro__"', "depends on itself|is not known"),
    "tower": ('p = "=9**9**9**9**9"', "too large|larger than"),
    "long tower": (f'p = "={"**".join(["9"] * 200)}"', "nested more than"),
    "long": (f'p = "={"+".join(["1"] * 15000)}"', "too long"),
    "deep": (f'p = "={"(" * 400}1{")" * 400}"', "nested more than"),
    "signs": (f'p = "={"-" * 900}1"', "nested more than"),
    "huge": ("p = 1e400", "inf"),
    "digits": (f"p = {'9' * 6000}", "too many digits"),
    "hexadecimal digits": (f"p = 0x{'f' * 6000}", "the number '0xf.* has too many digits"),
    "nan": ("p = nan", "nan"),
    "nan in a formula": ('p = "=nan"', '"nan" is not known'),
    "overflow": ('p = "=1e30*1e30"', "larger than"),
    "itself": ('p = "=p"', "depends on itself"),
    "ring": (
        'p = "=q"\nq = "=r"\nr = "=p"',
        "depends on itself \\(parameters.p -> parameters.q -> parameters.r -> parameters.p\\)",
    ),
    "long ring": (
        ring_of_parameters(20_000),
        "depends on itself \\(.*\\.\\.\\.",
    ),
    "twice": ("p = 1\np = 2", "not TOML: Cannot overwrite"),
    "nothing": ('p = "="', "the formula is empty"),
    "a date": ("p = 1979-05-27", "Give a finite number"),
    "a table": ("p = {}", "Give a finite number"),
    "nested": (f"p = {'[' * 5000}{']' * 5000}", "nested too deeply|Give a finite"),
    "a zero byte": ('p = "\x00"', "not TOML"),
    "division": ('p = "=1/(2 - 2)"', "divided by zero"),
    "imaginary": ('p = "=sqrt(-1)"', "not a real number"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_parameter_is_a_clear_error(case):
    value, message = HOSTILE[case]
    with pytest.raises(ModelError, match=message):
        load(GOOD.replace("p = 1", value, 1))


DEEP = {
    "a dotted key": f"{'x.' * 990}y = 1",
    "40 kB of one": f"{'x.' * 20_000}y = 1",
    "one with blanks": f"{'x . ' * 990}y = 1",
    "one of quoted parts": f"""{'"x".' * 990}'y' = 1""",
    "a header": f"[{'x.' * 990}y]",
    "inline tables": f"x = {'{ x = ' * 330}1{' }' * 330}",
    "arrays": f"x = {'[' * 330}{']' * 330}",
    "tables in arrays": f"x = {'[{ x = ' * 330}1{' }]' * 330}",
    "a long name": f"{'x' * 10**6} = 1",
    "a long name of a table": f"[{'x' * 10**6}]",
}


@pytest.mark.parametrize("case", DEEP)
def test_keys_and_nesting_that_no_model_needs_are_refused_before_they_are_parsed(case):
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=r"model text, line 13: .*(parts|nested too deeply|characters), more than 1"):
            load(GOOD + "\n" + DEEP[case] + "\n")
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


BRACKETS = [f'"{"[" * 400}"', f"'{'a.' * 400}'", '"""' + "{\n" * 400 + '"""', "'''" + "a.\n" * 400 + "'''"]


@pytest.mark.parametrize("name", BRACKETS)
def test_what_is_in_texts_and_comments_is_no_key_and_no_nesting(name):
    text = GOOD.replace("format = 1", f"format = 1 # {'a.' * 400} {'[' * 400}\nname = {name}")
    assert len(load(text).name) >= 400


@pytest.mark.parametrize("parameters", [chain_of_parameters, ring_of_parameters])
def test_the_work_of_reading_parameters_grows_with_their_number_and_not_with_its_square(parameters):
    def read(n):
        with suppress(ModelError):  # a ring depends on itself
            load(GOOD.replace("p = 1\n", parameters(n) + "\n"))

    assert growth(read, 200) < 2.2


def test_a_long_chain_of_formulas_is_no_deep_recursion():
    assert load(GOOD.replace("p = 1\n", chain_of_parameters(20_000))).mass[0] == 20_000


def test_everything_wrong_is_told_at_once():
    text = GOOD.replace("p = 1", 'p = "=1/0"\nq = "=x"\nr = "=(1"').replace('axis = "y"', "axis = [0, 0, 0]\nfoo = 1")
    with pytest.raises(ModelError) as caught:
        load(text)
    found = str(caught.value)
    assert found.startswith("4 problems in this model")
    for line, words in ((3, "divided by zero"), (4, '"x" is not known'), (5, "not closed"), (14, "unknown key")):
        assert f"line {line}: " in found and words in found


@pytest.mark.parametrize("name", sorted(gallery()))
def test_a_truncated_file_is_a_model_or_a_model_error(name):
    text = gallery()[name].read_text(encoding="utf-8")
    for cut in range(0, len(text), max(1, len(text) // 60)):
        try:
            load(text[:cut] + "\n")
        except ModelError:
            continue


TOKENS = ['"=', '"', "=", "[", "]", "{", "}", "0", "-1", "1e400", "nan", "true", '"ground"', '"=p/0"', "pi", "\n", "", '""', "[0,0,0]", "{}", "left.", ".",
          '"x"', "from", "body", "mirror", '"=tip.x"', "1e30", "-", "**", "#"]  # fmt: skip
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in gallery().items() if name != "humanoid"}


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(TEXTS)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20), st.sampled_from(TOKENS)), min_size=1, max_size=3),
)
def test_a_damaged_gallery_file_is_a_model_or_a_model_error(name, damages):
    text = TEXTS[name]
    for place, length, token in damages:
        at = int(place * len(text))
        text = text[:at] + token + text[at + length :]
    try:
        model = load(text + "\n")
    except ModelError:
        return
    assert np.isfinite(model.initial_q).all() and np.isfinite(model.position).all()


VALUES = st.recursive(
    st.none().map(lambda _: "nan")
    | st.sampled_from(
        ["0", "-1.5", "1e300", "true", '"x"', '"=p"', '"=p.x"', '"ground"', '"bob"', '"hinge"', "[]", "[0, 1, 0]", "1979-05-27"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda xs: f"[{', '.join(xs)}]")
        | st.dictionaries(
            st.sampled_from(["body", "at", "point", "from", "to", "rate", "q", "v", "mass", "table", "axis", "xx"]),
            inner,
            max_size=3,
        ).map(lambda d: "{ " + ", ".join(f"{k} = {v}" for k, v in d.items()) + " }")
    ),
    max_leaves=5,
)
SECTIONS = [
    "springs",
    "dampers",
    "frictions",
    "stops",
    "motors",
    "bushings",
    "forces",
    "measures",
    "points",
    "bodies",
    "joints",
    "assemblies",
    "copies",
    "initial",
    "parameters",
]
KEYS = ["joint", "from", "to", "stiffness", "damping", "type", "body", "point", "force", "table", "outside", "input", "of", "mirror", "offset", "parameters", "motion", "mesh",
        "box", "sphere", "cylinder", "rod", "mass", "center", "inertia", "bodies", "joints", "value", "element", "component", "parent", "child", "axis", "axis2", "pitch", "armature"]  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SECTIONS), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6))
def test_any_table_in_any_section_is_a_model_or_a_model_error(section, values):
    text = GOOD.replace("format = 1", 'format = 1\ninputs = ["u"]') + f"[{section}.extra]\n"
    text += "".join(f"{k} = {v}\n" for k, v in values.items())
    try:
        load(text)
    except ModelError:
        return
