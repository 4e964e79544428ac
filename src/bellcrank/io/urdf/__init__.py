"""URDF: read by yourdfpy, and written."""
