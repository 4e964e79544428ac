"""MJCF, MuJoCo's format: read through MuJoCo's own compiler, and written."""
