"""Stiff models: runs by scipy's BDF, where its steps end, and how a run shows itself stiff."""
