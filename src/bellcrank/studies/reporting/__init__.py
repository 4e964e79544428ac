"""Reports of studies: tables of derivatives, tolerance analysis, pictures of derivatives, optima and sweeps."""
