"""The study format: one reader for optimise, fit and sweep."""

from .reader import load_study, read_study
from .spec import Study

__all__ = ["Study", "load_study", "read_study"]
