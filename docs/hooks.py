"""Parts of the site that are made from the code while it is built: commands, fields of the model file, errors, gallery, and the
menu of the papers.

A page has ``<!-- generated: NAME -->`` where the part NAME stands.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = re.compile(r"<!-- generated: (\w+) -->")
SIMPLE = {  # definitions of the schema, in words
    "scalar": "number",
    "vector": "vector",
    "name": "name",
    "place": "point",
    "direction": "direction",
    "inertia": "inertia",
    "numbers": "number or list",
    "rows": "rows of two numbers",
    "formula": "formula",
    "quantity": "number with unit",
    "construction": "construction of a point",
}
WHERE = {
    "joint": "On a joint",
    "joints": "On a sum of coordinates",
    "from": "Between two points",
}  # by a field that is required


def on_config(config: Any) -> Any:
    """Every page of docs/papers is in the menu, by its name."""
    folder = Path(config["docs_dir"]) / "papers"
    pages = [{_title(path): f"papers/{path.name}"} for path in sorted(folder.glob("*.md"))]
    for section in config["nav"]:
        if "Papers" in section:
            section["Papers"] = [*pages, *section["Papers"]]
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    parts = {"commands": commands, "model_file": model_file, "errors": errors, "gallery": gallery, "dynamics": dynamics}
    parts["other_names"] = lambda: other_names(markdown)
    return MARK.sub(lambda found: "\n".join(parts[found[1]]()), markdown)


def other_names(page: str) -> Iterator[str]:
    """The public names that the page does not list under a heading of its own."""
    import bellcrank as bc

    for name in bc.__all__:
        thing = getattr(bc, name)
        is_error = inspect.isclass(thing) and issubclass(thing, Exception)
        if callable(thing) and not is_error and not re.search(rf"^::: \S+\.{name}$", page, re.MULTILINE):
            yield f"\n::: {thing.__module__}.{name}\n"


def dynamics() -> Iterator[str]:
    """What a compiled model computes: methods that are written in files of their own, by subject."""
    import bellcrank as bc

    yield "Its other methods, by example on the pages of the subjects:\n\n| method | result |\n|---|---|"
    inherited = {name: getattr(bc.Dynamics, name) for name in ("closure", "closure_jacobian", "poses", "rates")}
    for name, method in sorted((vars(bc.Dynamics) | inherited).items()):
        if inspect.isfunction(method) and method.__module__ != bc.Dynamics.__module__:
            arguments = str(inspect.signature(method).replace(return_annotation=inspect.Signature.empty))
            names = re.sub(r": (?:[^,=()\[\]]|\[[^\]]*\])+?(?= =|,|\))", "", arguments).replace(" = ", "=")
            names = re.sub(r"^\((?:dyn|self), ", "(", names)
            yield f"| `{name}{_cell(names)}` | {_cell((inspect.getdoc(method) or '').split(chr(10) * 2)[0])} |"


def _title(path: Path) -> str:
    heading = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return heading[1] if heading else path.stem


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def commands() -> Iterator[str]:
    """A section for each command: what it does, its arguments and its options."""
    from typer.main import get_command

    from bellcrank.cli import COMMANDS, main

    group: Any = get_command(main)
    for name in sorted(COMMANDS):
        command = group.commands[name]
        yield f"\n## bellcrank {name} {{ #{name} }}\n\n{inspect.cleandoc(command.help or '')}\n"
        arguments = " ".join(_value(p) for p in command.params if _is_argument(p))
        yield f"```text\nbellcrank {name} {arguments} [OPTIONS]\n```\n"
        yield "| argument or option | meaning |\n|---|---|"
        for parameter in command.params:
            yield f"| {_spelled(parameter)} | {_cell(parameter.help or '')}{_default(parameter)} |"


def _is_argument(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


def _value(parameter: Any) -> str:
    return str(parameter.metavar or (parameter.name.upper() if _is_argument(parameter) else "VALUE"))


def _spelled(parameter: Any) -> str:
    if _is_argument(parameter):
        return f"`{_cell(_value(parameter))}`"
    value = "" if parameter.is_flag else f" {_cell(_value(parameter))}"
    return ", ".join(f"`{name}{value}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _default(parameter: Any) -> str:
    shown = getattr(parameter, "show_default", None)
    if isinstance(shown, str):
        return f" Default: {_cell(shown)}."
    default = parameter.default
    return f" Default: `{default}`." if isinstance(default, (int, float, str)) and not isinstance(default, bool) else ""


def model_file() -> Iterator[str]:
    """A section for each table of the file: its fields, their kinds and meanings."""
    import bellcrank as bc

    properties = bc.schema()["properties"]
    plain = {key: value for key, value in properties.items() if not isinstance(value.get("additionalProperties"), dict)}
    yield "\n## Top of the file\n\n| field | kind | meaning |\n|---|---|---|"
    for key, value in plain.items():
        yield _field(key, value, False)
    for key, value in properties.items():
        if key not in plain:
            yield f"\n## [{key}.NAME] {{ #{key} }}\n\n{value.get('description', '')}\n"
            yield from _kinds(value["additionalProperties"])


def _kinds(item: dict[str, Any]) -> Iterator[str]:
    forms = [item] if item.get("properties") else item.get("anyOf", [item])
    objects = [form for form in forms if form.get("properties")]
    others = [form for form in forms if not form.get("properties")]
    if any(map(_kind, others)):
        words = [f"a {word}" for form in others for word in _kind(form).split(" or ") if word]
        yield f"A value is {' or '.join(dict.fromkeys(words))}{', or a table with these fields' if objects else ''}.\n"
    for form in objects:
        kind = form["properties"].get("type", {}).get("const")
        if kind:
            yield f'\n### type = "{kind}"\n'
        elif len(objects) > 1:
            yield f"\n{next(text for key, text in WHERE.items() if key in form.get('required', ()))}:\n"
        if form.get("description"):
            yield f"\n{form['description']}\n"
        yield "\n| field | kind | meaning |\n|---|---|---|"
        for key, value in form["properties"].items():
            if "const" not in value:
                yield _field(key, value, key in form.get("required", ()))


def _field(key: str, value: dict[str, Any], needed: bool) -> str:
    name = f"`{key}` (required)" if needed else f"`{key}`"
    return f"| {name} | {_cell(_kind(value))} | {_cell(_meaning(value))} |"


def _meaning(value: dict[str, Any]) -> str:
    text = str(value.get("description", ""))
    inner = value.get("properties")
    return f"{text} Fields: {', '.join(f'`{key}`' for key in inner)}" if inner else text


def _kind(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return SIMPLE[value["$ref"].rsplit("/", 1)[-1]]
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_kind(one) for one in value["anyOf"]))
    if value.get("type") == "array" and "items" in value:
        return f"list of {_kind(value['items'])}"
    return {"object": "table", "string": "text", "boolean": "true or false"}.get(value.get("type", ""), value.get("type", ""))


def errors() -> Iterator[str]:
    """The tree of errors and warnings, each with its meaning."""
    from bellcrank import errors as module

    classes = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
    found = [one for one in classes if issubclass(one, Exception)]
    yield "| name | kind of | meaning |\n|---|---|---|"
    for one in found:
        bases = ", ".join(f"`{base.__name__}`" for base in one.__bases__)
        yield f"| `{one.__name__}` | {bases} | {_cell(inspect.getdoc(one) or '')} |"


def gallery() -> Iterator[str]:
    """A section for each model: what its file says of it, and its picture or animation."""
    import bellcrank as bc

    folder = Path(__file__).parent / "gallery"
    for name, path in bc.gallery().items():
        top = re.match(r"(?:#.*\n)+", path.read_text(encoding="utf-8"))
        text = " ".join(line.strip("# ") for line in top[0].splitlines()) if top else ""
        yield f"\n## {name}\n\n{text}\n"
        picture = next((f"{name}.{ending}" for ending in ("gif", "png") if (folder / f"{name}.{ending}").exists()), None)
        if picture is not None:
            yield f"![{name}](gallery/{picture}){{ width=420 }}\n"
