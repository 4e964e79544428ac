"""Nodes: parts of a mechanism whose loops are eliminated together, and the tables that the walk over them reads."""
