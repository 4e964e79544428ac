"""What studies find, for people: tables of derivatives, tolerance analysis, pictures of derivatives, optima and sweeps."""
