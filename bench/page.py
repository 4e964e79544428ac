"""docs/speed.md and the table of README.md from the results of the benchmark.   python bench/page.py

Between <!-- results: NAME --> and <!-- end --> the pages hold what `block` makes of bench/results.json; all else is written by
hand. A test compares them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results.json"
PAGES = (ROOT / "docs" / "speed.md", ROOT / "README.md")
MARKED = re.compile(r"(<!-- results: (?P<name>[\w ,]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def shown(x: Any) -> str:
    """Three digits."""
    if x is None or x == "":
        return ""
    if isinstance(x, str | int):
        return str(x)
    if abs(x) >= 1000:
        return f"{x:,.0f}"
    return f"{x:.1e}" if 0 < abs(x) < 1e-3 else f"{x:.3g}"


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(shown(row.get(name)) for name in rows[0]) + " |" for row in rows]
    return "\n".join(lines)


def ratios(results: dict[str, Any], names: list[str]) -> str:
    """Rows of parts of the benchmark, ratios first."""
    rows = []
    for part in results["parts"]:
        for row in part["rows"] if part["name"] in names else ():
            apart = "" if row["agreement"] is None else f"{row['agreement']:.0e}"
            asked = "" if row["asked"] is None else f" (target: {shown(row['asked'])})"
            rows.append(
                {"times as fast": f"**{shown(row['ratio'])}**{asked}", "what": row["what"], "beside": row["peer"]}
                | {"Bellcrank": shown(row["ours"]), "the other": shown(row["theirs"])}
                | {"unit": row["unit"], "results differ by": apart}
            )
    return table(rows)


def conditions(results: dict[str, Any]) -> str:
    """Where, when busy, and with which versions."""
    machine, versions = results["machine"], results["versions"]
    peers = ", ".join(f"{name} {versions[name]}" for name in versions if name != "bellcrank")
    busy = "" if machine["load"] is None else f", at a load of {machine['load']:.1f}"
    quick = " by the quick form of the benchmark" if results["quick"] else ""
    absent = f" Not installed, and so left out: {', '.join(results['missing'])}." if results["missing"] else ""
    return (
        f"Measured{quick} on {machine['cores']} cores of an {machine['processor']} ({machine['lanes']} lanes){busy}, "
        f"with Python {machine['python']}, {peers}.{absent}"
    )


def forward(results: dict[str, Any]) -> str:
    """The table of forward dynamics, a column for each mechanism."""
    part = next(x for x in results["parts"] if x["name"] == "trees")
    rows = part["tables"]["Forward dynamics, microseconds per state"]
    titles = {"one state": "Bellcrank, one state", "lanes": "Bellcrank, lanes", "Pinocchio": "Pinocchio", "MuJoCo": "MuJoCo"}
    titles |= {
        "one state / best": "one state, times faster than the better peer",
        "lanes / best": "lanes, times faster than the better peer",
    }
    return table([{"": title, **{row["mechanism"]: row.get(key) for row in rows}} for key, title in titles.items()])


def block(results: dict[str, Any], name: str) -> str:
    if name == "conditions":
        return conditions(results)
    if name == "forward":
        return forward(results)
    part, _, number = name.partition(", table ")
    if number:
        tables = next(x for x in results["parts"] if x["name"] == part)["tables"]
        title = list(tables)[int(number) - 1]
        return f"{title}:\n\n{table(tables[title])}"
    return ratios(results, [name])


def written(text: str, results: dict[str, Any]) -> str:
    """A page with all of its marked parts made anew."""
    return MARKED.sub(lambda at: f"{at[1]}{block(results, at['name'])}\n{at[3]}", text)


def main() -> None:
    results = json.loads(RESULTS.read_text())
    for page in PAGES:
        page.write_text(written(page.read_text(), results))
        print(f"written: {page}")


if __name__ == "__main__":
    main()
