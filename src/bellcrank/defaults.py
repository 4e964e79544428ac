"""What a run takes where nothing else is asked for; in one place, for all runs, single or many."""

TOLERANCE = 1e-9  # of methods that adapt their step, relative and absolute: docs/methods.md says why
