"""Comparisons with the papers: variants in plain numpy, Huang's method, operation tables."""
