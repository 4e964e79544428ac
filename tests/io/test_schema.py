"""The JSON Schema accepts what the reader accepts, and it knows every key."""

import json
import re
import tomllib

import pytest

from bellcrank.io import dumps, gallery, schema

SCHEMA = schema()


def errors(value, rule, path="$"):
    """A small validator of the words that the schema uses."""
    if "$ref" in rule:
        yield from errors(value, SCHEMA["$defs"][rule["$ref"].rpartition("/")[2]], path)
    for word in ("anyOf", "oneOf"):
        if word in rule:
            good = sum(not list(errors(value, choice, path)) for choice in rule[word])
            if good == 0 or (word == "oneOf" and good > 1):
                yield f"{path}: {good} of {word}"
    if "const" in rule and value != rule["const"]:
        yield f"{path}: not {rule['const']}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{path}: not in {rule['enum']}"
    kind = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool}.get(rule.get("type"))
    if kind is not None and (not isinstance(value, kind) or isinstance(value, bool) != (kind is bool)):
        yield f"{path}: no {rule['type']}"
        return
    if "pattern" in rule and isinstance(value, str) and not re.search(rule["pattern"], value):
        yield f"{path}: does not match"
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            yield f"{path}: {len(value)} items"
        for i, item in enumerate(value):
            yield from errors(item, rule.get("items", {}), f"{path}[{i}]")
    if isinstance(value, dict):
        yield from (f"{path}: no {key}" for key in rule.get("required", ()) if key not in value)
        for key, item in value.items():
            inner = rule.get("properties", {}).get(key, rule.get("additionalProperties", {}))
            if inner is False:
                yield f"{path}: unknown {key}"
            else:
                yield from errors(item, inner, f"{path}.{key}")


@pytest.mark.parametrize("name", sorted(gallery()))
def test_gallery_files_fit_the_schema(name):
    assert list(errors(tomllib.loads(gallery()[name].read_text(encoding="utf-8")), SCHEMA)) == []


def test_a_file_with_everything_fits_and_a_wrong_key_does_not():
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    spec = spec_from_file_location("writing", Path(__file__).with_name("test_writing.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    values = tomllib.loads(dumps(module.everything().spec))
    assert list(errors(values, SCHEMA)) == []
    values["springs"]["coil"]["stifness"] = 1
    assert list(errors(values, SCHEMA)) == ["$.springs.coil: 0 of anyOf"]


def test_the_schema_is_json_and_describes_its_keys():
    text = json.dumps(SCHEMA)
    assert json.loads(text) == SCHEMA
    joints = SCHEMA["properties"]["joints"]["additionalProperties"]
    assert joints["required"] == ["type", "parent", "child", "point"]
    assert "m/rad" in joints["properties"]["pitch"]["description"]
