"""Formulas over named values, and models with other numbers."""
