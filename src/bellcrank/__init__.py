"""Bellcrank: the dynamics of mechanisms, in machine code made from plain Python."""
