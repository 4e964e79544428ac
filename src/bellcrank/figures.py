"""Figures that a notebook shows below the cell, also where pyplot is not imported."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A matplotlib Figure without pyplot: it needs no display and leaves no global state behind."""

    def _repr_png_(self) -> bytes:
        """What IPython displays of it."""
        with BytesIO() as picture:
            self.savefig(picture, format="png")
            return picture.getvalue()
