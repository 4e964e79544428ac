"""A process that computes pieces of a sweep for another one: a task comes in, then pieces; answers go out, pickled.

It ends with the process that it works for, whose end of the pipe is closed then, whatever happened to it.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
import warnings
from queue import SimpleQueue
from threading import Thread
from typing import Any

from ....errors import BellcrankError
from ....kernels.threads import one_thread
from ..runners import compiled
from ..task import Task
from .process import Answer


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that it works for decides what an interrupt ends
    warnings.simplefilter("ignore")  # those of runs are in their rows
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    questions = SimpleQueue[Any]()
    Thread(target=_listen, args=(questions,), daemon=True).start()
    try:
        with one_thread():
            _answer(questions, answers)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # an interpreter that ends by itself would wait for the thread that listens


def _listen(questions: SimpleQueue[Any]) -> None:
    try:
        while True:
            questions.put(pickle.load(sys.stdin.buffer))
    finally:  # nothing more comes, or half of something
        os._exit(0)


def _answer(questions: SimpleQueue[Any], answers: Any) -> None:
    def answer(found: Answer) -> None:
        pickle.dump(found, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()

    task: Task = pickle.loads(questions.get())
    runner = compiled(task).runner
    answer(Answer())
    while True:
        first, last, designs = questions.get()
        try:
            found = Answer(runner.run(first, last, designs))
        except BellcrankError as problem:
            found = Answer(problem=problem)
        answer(found)


if __name__ == "__main__":
    main()
