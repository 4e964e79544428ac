"""Adjoints in machine code: of programs at states, and of the steps of a run, from the last one to the first."""
