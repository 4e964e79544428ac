"""Motions of a mechanism: an input through its range (driving), and the efforts that a given motion takes (inverse)."""
