"""Kernels as LLVM text: what they are for one source tree, and whether those of two source trees are the same.

    PYTHONPATH=TREE/src python bench/kernel_text.py dump FOLDER [--only WORD ...]
    python bench/kernel_text.py compare OLD_FOLDER NEW_FOLDER [--only WORD ...] [--lines N]

dump writes a module of each program of each model of models(), for one state and for lanes, and of the steppers around them;
nothing is optimised or run. compare says of each function whether it is

    same          line by line, where names of values and labels, order and number of arguments do not count; names of the
                  arrays (pointer arguments, words of ``bound``) do
    renamed       the same but for names of arrays, which are listed at the end: judge them
    equivalent    one of these after LLVM's sroa, instcombine, newgvn and dce: addresses computed twice do not count
    different     the first lines that differ, after those passes if both can be parsed, and the opcodes whose numbers do

Another layout of the source needs another entry of LAYOUTS; all that is known of the source stands in Tree.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

# the source tree -----------------------------------------------------------------------------------------------------

LAYOUTS = (  # where the modules are that Tree uses
    {
        "module": "machine.module",
        "kernel": "machine.kernel",
        "programs": "machine.steps.programs",
        "stepper": "machine.steps.memory",
        "adaptive": "machine.steps.trajectory",
        "lanes": "machine.steps.lanes.runs",
        "stiffness": "analyses.stiffness",
    },
    {
        "module": "machine.module",
        "kernel": "machine.kernel",
        "programs": "machine.steps.programs",
        "stepper": "machine.steps.memory",
        "adaptive": "machine.steps.trajectory",
        "lanes": "machine.steps.lane_runs",
        "stiffness": "analyses.stiffness",
    },
    {
        "module": "machine.module",
        "kernel": "machine.kernel",
        "stepper": "machine.steps.stepper",
        "adaptive": "machine.steps.adaptive",
        "lanes": "machine.steps.lanes",
        "stiffness": "analyses.stiffness",
    },
    {
        "module": "codegen.module",
        "kernel": "codegen.kernel",
        "stepper": "codegen.stepper",
        "adaptive": "codegen.adaptive_stepper",
        "lanes": "codegen.lane_stepper",
        "stiffness": "analyses.stiffness",
    },
)
LANES = 4


class Tree:
    """The functions of one source tree that write text, found by LAYOUTS."""

    def __init__(self) -> None:
        for layout in LAYOUTS:
            try:
                found = {name: importlib.import_module(f"bellcrank.{path}") for name, path in layout.items()}
            except ModuleNotFoundError:
                continue
            self.module, self.kernel, self.stepper = found["module"], found["kernel"], found["stepper"]
            self.adaptive, self.lanes, self.stiffness = found["adaptive"], found["lanes"], found["stiffness"]
            self.stepping = found.get("programs")  # before there was such a file, steppers knew their programs
            return
        raise SystemExit("this source tree has none of the layouts that bench/kernel_text.py knows: add it to LAYOUTS")

    def plan(self, model: Any, **options: Any) -> Any:
        import bellcrank as bc

        given = {"formulation": "coordinate_reduction"} if model.closures else {}
        return bc.compile(model, quick=True, **given, **options).plan

    def programs(self, closed: bool) -> dict[str, Any]:
        """All programs that such a model can be asked for, by name."""
        from bellcrank import formulations as f

        hamilton = {name: program for name, program in f.CANONICAL.items() if (":" not in name) == closed}
        known = {f"canonical {name}": replace(p, scratch=("v", *p.scratch)) for name, p in hamilton.items()}
        known |= {f"both {name}": program for name, program in f.WITH_MULTIPLIERS.items() if closed}
        known |= f.CLOSED if closed else f.FORMULATIONS
        chosen = {name: program for name, program in f.QUANTITIES.items() if closed or not _only_closed(name)}
        only_trees = ("velocities", "canonical_reactions", "canonical_drives", "tangent") if closed else ()
        known |= {f"quantity {name}": program for name, program in chosen.items() if name not in only_trees}
        return known | {"quantity stiffness_tangent": self.stiffness.TANGENT}

    def write(self, plan: Any, program: Any, lanes: int) -> str:
        """The module of a program, and above it the names of the words of ``bound``."""
        program = self.kernel.for_plan(program, plan)
        plan = plan if program.nodes or plan.nodes is None else replace(plan, nodes=None)
        written = self.module.write_module(plan, program, lanes)
        taken = [written.arguments] if hasattr(written, "arguments") else []  # once: all kernels took all arrays
        return _with_words(self.module.bound_words(program, *taken), written.text)

    def write_stepper(self, plan: Any, name: str, method: str, lanes: int) -> str:
        from bellcrank.formulations import CANONICAL, CLOSED, FORMULATIONS
        from bellcrank.integrate import METHODS

        program = (CANONICAL if name.startswith("canonical") else CLOSED | FORMULATIONS)[name]
        plan = plan if program.nodes else replace(plan, nodes=None)
        write = self.lanes.write_lane_stepper if lanes > 1 else self.adaptive.write_stepper
        written = write(plan, program, METHODS[method])
        if self.stepping is not None:
            words = self.stepper.words(self.stepping.programs(plan, program, works=lanes == 1))
        else:
            known = self.lanes.lane_programs if lanes > 1 else self.stepper.programs
            words = self.stepper.stepper_words(known(plan, program))
        return _with_words(words, written.text)


def _only_closed(name: str) -> bool:
    return any(word in name for word in ("clos", "block", "multipliers", "project"))


def _with_words(words: list[str], text: str) -> str:
    return f"; words {' '.join(words)}\n{text}"


# what is written -----------------------------------------------------------------------------------------------------

GALLERY = (
    "double_pendulum",
    "double_pendulum_particles",
    "heavy_top",
    "humanoid",
    "quarter_car",
    "rheonomic_pendulum",
    "crane",
    "every_joint",
    "four_bar",
    "slider_crank",
    "five_bar",
    "parallelogram",
    "squeezer",
    "bricard",
    "stewart",
    "excavator",
    "strandbeest",
)


def models() -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    """How each model is made, and options of its plan."""
    import bellcrank as bc
    from bellcrank.model import generators

    made: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {name: (lambda n=name: bc.load(n), {}) for name in GALLERY}
    made["four_bar_baumgarte"] = (lambda: bc.load("four_bar"), {"baumgarte": (5.0, 5.0)})
    generated = {
        "chain_7": lambda: generators.chain(7),
        "chain_7_spherical": lambda: generators.chain(7, kind="spherical"),
        "random_tree_12": lambda: generators.random_tree(12, seed=1),
        "n_four_bar_3": lambda: generators.n_four_bar(3),
        "ladder_4": lambda: generators.ladder(4),
        "spatial_ladder_3": lambda: generators.spatial_ladder(3),
        "lattice_8x8": lambda: generators.lattice(8, 8),
    }
    return made | {name: (make, {}) for name, make in generated.items()}


TREE_STEPPERS = ("articulated_body", "canonical_momenta:joint")
LOOP_STEPPERS = ("coordinate_reduction", "multipliers:joint", "canonical_momenta")


def modules(tree: Tree, model: Any, options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], str]]]:
    """Names of a model's modules and how each is written."""
    plan, closed = tree.plan(model, **options), bool(model.closures)
    for name, program in tree.programs(closed).items():
        for lanes in (1, LANES):
            yield f"{name} x{lanes}", lambda p=program, n=lanes: tree.write(plan, p, n)
    for name in LOOP_STEPPERS if closed else TREE_STEPPERS:
        momenta = name.startswith("canonical")
        for method in ("dopri5", "rk4", *(["implicit_midpoint"] if momenta else [])):
            yield f"step {name} {method} x1", lambda p=name, m=method: tree.write_stepper(plan, p, m, 1)
        if not momenta:
            yield f"step {name} dopri5 x{LANES}", lambda p=name: tree.write_stepper(plan, p, "dopri5", LANES)


def dump(folder: Path, only: list[str]) -> None:
    tree = Tree()
    for model_name, (make, options) in models().items():
        if only and not any(word in model_name for word in only):
            continue
        into = folder / model_name
        into.mkdir(parents=True, exist_ok=True)
        for old in into.glob("*.ll"):
            old.unlink()
        count, failed = 0, []
        for name, write in modules(tree, make(), options):
            try:
                text = write()
            except Exception as problem:  # which programs a model has, the dump says
                failed.append(f"{name}: {type(problem).__name__}: {problem}")
                continue
            (into / f"{name.replace(' ', '.').replace(':', '-')}.ll").write_text(text)
            count += 1
        print(f"{model_name}: {count} modules", *failed, sep="\n    ", flush=True)


# canonical text ------------------------------------------------------------------------------------------------------

_NAME = re.compile(r'%(?:"[^"]*"|[\w.$-]+)')
_DEFINED = re.compile(rf"({_NAME.pattern}) = (.*)")
_LABEL = re.compile(r'((?:"[^"]*"|[\w.$-]+)):')
_PARAMETER = re.compile(rf"({_NAME.pattern})(?=[,)])")
_FROM_BOUND = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*(\w+), ptr %bound, i64 (\d+)")
_LOADED = re.compile(rf"load (?:ptr|i64|double), ptr ({_NAME.pattern})(?:, align \d+)?$")
_CALL = re.compile(r"(.*call .*)@([\w.]+)\((.*)\)(.*)")
_ARRAY = re.compile(r"&[\w:]+")


@dataclass
class Function:
    name: str
    parameters: list[str]
    lines: list[str]

    @property
    def used(self) -> list[str]:
        """Parameters in the order of their first use."""
        seen = dict.fromkeys(name for line in self.lines for name in _NAME.findall(line))
        return [name for name in seen if name in set(self.parameters)]


def functions(text: str) -> dict[str, Function]:
    found, current = {}, None
    for raw in text.splitlines():
        line = raw.split(";")[0].strip()
        if line.startswith("define "):
            head, _, rest = line.partition("(")
            current = Function(head.rpartition("@")[2], _PARAMETER.findall(rest), [])
            found[current.name] = current
        elif line == "}":
            current = None
        elif current is not None and line:
            current.lines.append(line)
    return found


def words_of(text: str) -> list[str]:
    first = text.partition("\n")[0]
    return first.removeprefix("; words ").split() if first.startswith("; words ") else []


def canonical(function: Function, module: dict[str, Function], words: list[str]) -> list[str]:
    """Lines with values and labels numbered in order of definition, arrays as &name, words of ``bound`` by their names."""
    lines, names = _without_words(function.lines, words)
    names |= {name: f"&{name[1:]}" for name in function.parameters}
    values = labels = 0
    for line in lines:
        if defined := _DEFINED.match(line):
            names[defined[1]] = f"%{values}"
            values += 1
        elif label := _LABEL.fullmatch(line):
            names[f"%{label[1]}"] = f"L{labels}"
            labels += 1
    return [_renamed(line, names, module) for line in lines]


def _without_words(lines: list[str], words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Without the loads from ``bound``, and the names of what was loaded."""
    places, names, kept = {"%bound": 0}, {}, []
    for line in lines:
        defined = _DEFINED.match(line)
        if defined and words and (address := _FROM_BOUND.match(defined[2])):
            places[defined[1]] = int(address[2]) // (8 if address[1] == "i8" else 1)
        elif defined and words and (loaded := _LOADED.match(defined[2])) and loaded[1] in places:
            names[defined[1]] = f"&{words[places[loaded[1]]]}"
        else:
            kept.append(line)
    return kept, names


def _renamed(line: str, names: dict[str, str], module: dict[str, Function]) -> str:
    if label := _LABEL.fullmatch(line):
        return f"{names[f'%{label[1]}']}:"
    call = _CALL.match(line)
    if call and call[2] in module:
        line = f"{call[1]}@{call[2]}({_arguments(call[3], module[call[2]], names)}){call[4]}"
    return _NAME.sub(lambda found: names.get(found[0], found[0]), line)


def _arguments(given: str, callee: Function, names: dict[str, str]) -> str:
    """Those that the callee uses, in its order, but for arrays that are passed under their own names."""
    values = dict(zip(callee.parameters, (part.split()[-1] for part in given.split(",")), strict=True))
    pairs = ((f"&{name[1:]}", names.get(values[name], values[name])) for name in callee.used)
    return ", ".join(f"{name}={value}" for name, value in pairs if name != value)


def anonymous(lines: list[str]) -> tuple[list[str], list[str]]:
    """Lines with arrays numbered in order of use, and their names in that order."""
    order: dict[str, str] = {}
    numbered = [_ARRAY.sub(lambda found: order.setdefault(found[0], f"&{len(order)}"), line) for line in lines]
    return numbered, list(order)


def opcodes(lines: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in lines:
        operation = line.split(" = ", 1)[-1]
        if not line.endswith(":"):
            call = _CALL.match(operation)
            counts[f"call {call[2]}" if call else operation.split()[0]] += 1
    return counts


@cache
def _llvm() -> tuple[Any, Any]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(opt=3)
    return llvm, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))


def simplified(text: str) -> str:
    """The module after passes that leave no address, load or sum twice."""
    llvm, builder = _llvm()
    module = llvm.parse_assembly(text)
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_instruction_combine_pass()
    passes.add_dead_code_elimination_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return str(module)


# comparison ----------------------------------------------------------------------------------------------------------


class Side:
    """One of two modules: canonical lines of its functions as written, and as simplified."""

    def __init__(self, text: str):
        self.text, self.words = text, words_of(text)
        self.functions = functions(text)

    def lines(self, name: str) -> list[str]:
        return canonical(self.functions[name], self.functions, self.words)

    def simple_lines(self, name: str) -> list[str]:
        if not hasattr(self, "_simple"):
            self._simple = functions(simplified(self.text))
        return canonical(self._simple[name], self._simple, self.words)


def sameness(old: list[str], new: list[str], renamed: Counter[str]) -> str:
    if old == new:
        return "same"
    (old, old_names), (new, new_names) = anonymous(old), anonymous(new)
    if old != new:
        return ""
    renamed.update(f"{a[1:]} -> {b[1:]}" for a, b in zip(old_names, new_names, strict=True) if a != b)
    return "renamed"


def compare(old_folder: Path, new_folder: Path, only: list[str], shown: int) -> bool:
    verdicts: Counter[str] = Counter()
    renamed: Counter[str] = Counter()
    old_files, new_files = ({p.relative_to(x) for p in x.glob("*/*.ll")} for x in (old_folder, new_folder))
    for path in sorted(old_files | new_files):
        if only and not any(word in str(path) for word in only):
            continue
        if path not in old_files or path not in new_files:
            verdicts["only in one"] += 1
            print(f"{path}: only in {old_folder if path in old_files else new_folder}")
            continue
        old, new = (Side((folder / path).read_text()) for folder in (old_folder, new_folder))
        for name in {**old.functions, **new.functions}:
            verdict, differences = _judged(old, new, name, renamed, shown)
            verdicts[f"{verdict}, way in" if name in ("batch", "single") else verdict] += 1
            if differences:
                print(f"{path} @{name}: {verdict}", *differences, sep="\n    ", flush=True)
    print("functions:", ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    if renamed:
        print("arrays renamed:", *(f"{pair} ({count} functions)" for pair, count in renamed.most_common()), sep="\n    ")
    return not any(word in verdict for verdict in verdicts for word in ("different", "only"))


def _judged(old: Side, new: Side, name: str, renamed: Counter[str], shown: int) -> tuple[str, list[str]]:
    """Of one function: how the two are alike, and what to print about it."""
    if name not in old.functions or name not in new.functions:
        return "only in one", [f"only in the {'old' if name in old.functions else 'new'}"]
    lines = old.lines(name), new.lines(name)
    if verdict := sameness(*lines, renamed):
        return verdict, []
    try:
        simple = old.simple_lines(name), new.simple_lines(name)
    except RuntimeError as problem:
        return "different", [f"not parsed: {problem}", *_differences(*lines, shown)]
    if sameness(*simple, renamed):
        return "equivalent", []
    return "different", [*_counts("as written", *lines), *_counts("simplified", *simple), *_differences(*simple, shown)]


def _counts(title: str, old: list[str], new: list[str]) -> list[str]:
    ours, theirs = opcodes(old), opcodes(new)
    changed = [f"{op} {ours[op]} -> {theirs[op]}" for op in sorted({*ours, *theirs}) if ours[op] != theirs[op]]
    return [f"{title}: {len(old)} -> {len(new)} lines; {', '.join(changed) or 'the same numbers of all opcodes'}"]


def _differences(old: list[str], new: list[str], shown: int) -> list[str]:
    at = _first_difference(anonymous(old)[0], anonymous(new)[0])
    if old[at : at + 1] == new[at : at + 1]:  # an array takes the place of another
        at = _first_difference(old, new)
    said = [f"line {at + 1}:", *(f"  {line}" for line in old[max(0, at - 2) : at])]
    return [*said, *(f"- {line}" for line in old[at : at + shown]), *(f"+ {line}" for line in new[at : at + shown])]


def _first_difference(old: list[str], new: list[str]) -> int:
    return next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    dumping, comparing = commands.add_parser("dump"), commands.add_parser("compare")
    dumping.add_argument("folder", type=Path)
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--lines", type=int, default=4, help="differing lines to print of each function")
    for command in (dumping, comparing):
        command.add_argument("--only", nargs="*", default=[], help="words of names of models (compare: or of modules)")
    options = parser.parse_args()
    if options.command == "dump":
        dump(options.folder, options.only)
    elif not compare(options.old, options.new, options.only, options.lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
