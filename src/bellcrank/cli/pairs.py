"""NAME=VALUE on the command line."""

from __future__ import annotations

from ..errors import StateError


def named_texts(pairs: list[str] | None, option: str, form: str) -> dict[str, str]:
    """The texts after the first ``=``, by the names before it."""
    found = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise StateError(f"{option} {pair}: give {form}")
        found[name] = value
    return found


def named_numbers(pairs: list[str] | None, option: str, form: str) -> dict[str, float]:
    """Numbers by name."""
    return {name: number(value, f"{option} {name}={value}") for name, value in named_texts(pairs, option, form).items()}


def numbers(text: str, option: str, count: int) -> tuple[float, ...]:
    """Several numbers with commas between."""
    parts = text.split(",")
    if len(parts) != count:
        raise StateError(f"{option} {text}: give {count} numbers, with commas between")
    return tuple(number(part, f"{option} {text}") for part in parts)


def number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise StateError(f"{where}: {text!r} is not a number") from None


def listed(texts: list[str]) -> list[str]:
    """Names that were given one by one, or several with commas between: those inside of parentheses are of the name."""
    found: list[str] = []
    for text in texts:
        depth, begin = 0, 0
        for k, letter in enumerate(text + ","):
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth <= 0:
                found.append(text[begin:k].strip())
                begin = k + 1
    return [name for name in found if name]


def tolerances_of(texts: list[str]) -> dict[str, float | str] | str:
    """The values of --tolerance: one for all parameters, or one for each by its path."""
    given = listed(texts)
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    return dict(named_texts(given, "--tolerance", "path=0.001, path=0.5%, or one value for all"))
