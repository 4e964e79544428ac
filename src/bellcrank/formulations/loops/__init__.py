"""Recursions for closed loops: cut joints with multipliers, coordinate reduction by blocks, and what both need."""
