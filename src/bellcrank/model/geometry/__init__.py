"""Numbers with units, points made by construction, and the geometry of gears."""
