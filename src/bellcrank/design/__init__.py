"""The design as data: all numbers of a mechanism as functions of chosen parameters, recorded once and compiled."""

from .design import Design

__all__ = ["Design"]
