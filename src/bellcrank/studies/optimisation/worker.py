"""A process that searches from its share of the starts: it reads a job from stdin, and writes evaluations to stdout."""

from __future__ import annotations

import json
import os
import pickle
import sys
import warnings

from .sharing import serve


def main() -> None:
    warnings.simplefilter("ignore")  # the first process has given them
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr
    try:
        serve(pickle.load(sys.stdin.buffer), lambda line: print(json.dumps(line), file=lines, flush=True))
    except KeyboardInterrupt:
        os._exit(130)


if __name__ == "__main__":
    main()
