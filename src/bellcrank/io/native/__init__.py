"""Bellcrank's own model files: TOML, read with line numbers, and written with their formulas."""
