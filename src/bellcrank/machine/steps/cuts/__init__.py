"""Where steps end besides at the end of the run: at times that are known, and at surfaces that the state crosses."""
