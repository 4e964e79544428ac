"""``python -m bellcrank.cli`` is the same as ``bellcrank``."""

from . import main

main(prog_name="bellcrank")
