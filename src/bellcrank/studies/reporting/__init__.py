"""Derivatives for people: tables, tolerances, pictures."""
