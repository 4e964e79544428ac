"""Measures as tables: what machine/measuring reads."""

from .tables import MEASURE_ROW, MEASURE_SLOTS, MEASURE_TABLE, MeasurePlan, MeasureSignature, make_measures, measured_bodies

__all__ = [
    "MEASURE_ROW",
    "MEASURE_SLOTS",
    "MEASURE_TABLE",
    "MeasurePlan",
    "MeasureSignature",
    "make_measures",
    "measured_bodies",
]
