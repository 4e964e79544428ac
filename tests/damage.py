"""Damaged model files and robot files, each tried in a child process whose time and memory are limited.

    python -m tests.damage models 0 10000
    python -m tests.damage robots 0 2000

try the files of these seeds and print what ended in something else than a result or an error of ours. Time is that of the
processor, so that a busy machine is no failure.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import bellcrank as bc

ROBOTS = Path(__file__).parent / "robots" / "files"
SECONDS, BYTES = 120, 6 << 30  # of processor time for one file, and of memory for a child

SMALL = ("pendulum", "double_pendulum", "four_bar", "heavy_top", "parallelogram", "slider_crank", "quarter_car", "five_bar")
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?(?![\w.])")
NUMBERS = ["0", "-1", "1e30", "1e-30", "-1e30", "1e300", "1e150", "1e-300", "-1e-12", "1e8", "1e-8", "1e16", "5e-324"]
TOKENS = ['"ground"', "[0, 0, 0]", "true", "{}", '"=p/0"', '"x"', "[]", '""', "nan", "inf", "1979-05-27", '"=1e308*1e308"']
WORDS = ["nan", "inf", "-inf", "", "x", "1 2 3", "0 0 0", "world", "true", "1e400", "-"]

CHILD = """
import json, resource, signal, sys, traceback, warnings
seconds, size = json.loads(sys.stdin.readline())
resource.setrlimit(resource.RLIMIT_AS, (size, size))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import bellcrank as bc
warnings.simplefilter("ignore")
WAYS = {
    "assemble": bc.assemble,
    "check": lambda m: bc.check(m).as_dict(),
    "equilibrium": lambda m: bc.equilibrium(m, max_iterations=30),
    "modes": lambda m: bc.modes(m, "start"),
    "simulate": lambda m: bc.simulate(m, 0.05, step=0.01, max_steps=1_000_000).summary().as_dict(),
    "simulate_many": lambda m: bc.simulate_many(m, 0.02, step=0.01, max_steps=1_000_000),
}
for line in sys.stdin:
    defects, done = [], 0
    signal.setitimer(signal.ITIMER_PROF, seconds)  # whose signal ends the process, also inside machine code
    try:
        text, ways = json.loads(line)
        model = bc.load(text)
        for name in ways:
            try:
                WAYS[name](model)
                done += 1
            except bc.BellcrankError:
                pass
            except Exception:
                defects.append(name + ": " + traceback.format_exc())
    except bc.BellcrankError:
        pass
    except Exception:
        defects.append("load: " + traceback.format_exc())
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps([done, defects]), flush=True)
"""
WAYS = ("assemble", "check", "equilibrium", "modes", "simulate", "simulate_many")


def damaged_model(seed: int) -> str:
    """A model of the gallery, mostly a small one, with some of its numbers changed, or its text."""
    rng = random.Random(seed)
    files = bc.gallery()
    text = files[rng.choice(SMALL if rng.random() < 0.95 else sorted(files))].read_text(encoding="utf-8")
    if rng.random() < 0.8:
        return _other_numbers(text, rng, NUMBERS, TOKENS)
    return _other_text(text, rng)


def damaged_robot(seed: int) -> str:
    """A robot file of the tests, damaged in the same ways."""
    rng = random.Random(seed)
    text = rng.choice(sorted(ROBOTS.iterdir())).read_text(encoding="utf-8")
    if rng.random() < 0.6:
        return _other_numbers(text, rng, NUMBERS, WORDS)
    return _other_text(text, rng)


def _other_numbers(text: str, rng: random.Random, numbers: list[str], words: list[str]) -> str:
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(NUMBER.finditer(text))[1:]
        if places:
            place = rng.choice(places)
            text = text[: place.start()] + rng.choice(numbers if rng.random() < 0.85 else words) + text[place.end() :]
    return text


def _other_text(text: str, rng: random.Random) -> str:
    """Without a line, with one twice or elsewhere, without its end, with another character, or a name for another."""
    lines = text.splitlines(keepends=True)
    k, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    place, kind = rng.randrange(len(text)), rng.randrange(6)
    if kind == 0:
        return "".join(lines[:k] + lines[k + 1 :])
    if kind == 1:
        return "".join(lines[:j] + [lines[k]] + lines[j:])
    if kind == 2:
        lines[k], lines[j] = lines[j], lines[k]
        return "".join(lines)
    if kind == 3:
        return text[:place]
    if kind == 4:
        return text[:place] + rng.choice("\"'[]{}<>/=.,-0 \n\x7fé") + text[place + 1 :]
    names = sorted(set(re.findall(r"[A-Za-z_]{3,}", text)))
    return re.sub(rf"\b{rng.choice(names)}\b", rng.choice(names), text, count=rng.choice([0, 1]))


KINDS: dict[str, Callable[[int], str]] = {"models": damaged_model, "robots": damaged_robot}


def defects_of(files: Iterable[tuple[int, str]], ways: Iterable[str] = WAYS) -> Iterator[tuple[int, int, list[str]]]:
    """Of each file: its seed, how much of it gave results, and what ended in neither a result nor an error of ours."""
    child: subprocess.Popen[str] | None = None
    try:
        for seed, text in files:
            child = child or _start()
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(json.dumps([text, list(ways)]) + "\n")
            child.stdin.flush()
            answer = child.stdout.readline()
            if answer:
                yield seed, *json.loads(answer)
            else:
                yield seed, 0, [f"the process ended with code {child.wait()} (-27: its time limit)"]
                _end(child)
                child = None
    finally:
        if child is not None:
            _end(child)


def _start() -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    child.stdin.write(json.dumps([SECONDS, BYTES]) + "\n")
    return child


def _end(child: subprocess.Popen[str]) -> None:
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            stream.close()
    child.wait()


def main(kind: str, first: str, last: str) -> None:
    tried = results = wrong = 0
    for seed, done, defects in defects_of((seed, KINDS[kind](seed)) for seed in range(int(first), int(last))):
        tried, results, wrong = tried + 1, results + bool(done), wrong + bool(defects)
        for defect in defects:
            print(f"seed {seed}: {defect}", flush=True)
        if tried % 100 == 0:
            print(f"{kind}: {tried} tried, {results} gave results, {wrong} defects", flush=True)
    print(f"{kind}: {tried} tried, {results} gave results, {wrong} defects")


if __name__ == "__main__":
    main(*sys.argv[1:])
