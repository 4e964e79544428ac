"""The walk over nodes: blocks of loops, and parts of blocks."""
