"""Derivatives found in other ways, to check ours; and where there are none."""
