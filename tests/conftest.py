"""Hypothesis tries the same examples every time, and a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")
