"""One model in several engines: all formulations that apply, and MuJoCo and Pinocchio where they are installed."""

from .measuring import Comparison, Row, compare

__all__ = ["Comparison", "Row", "compare"]
