"""The first states of many runs, all rows at once."""
