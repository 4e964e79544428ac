"""Huang's method: reactions from the positions at the end of a step, with every body moving by itself."""
