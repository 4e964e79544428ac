"""Default settings of runs, in one place for single and for many runs."""

TOLERANCE = 1e-9  # of methods that adapt their step, relative and absolute: docs/methods.md says why
