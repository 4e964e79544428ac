"""``python -m bellcrank`` is the command line."""

from .cli import main

main()
