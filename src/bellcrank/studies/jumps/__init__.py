"""Jumps of derivatives: at known times, and where a run passes a place at which a force begins at once; integrals cut there."""
