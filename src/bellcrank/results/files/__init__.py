"""A run as files: NetCDF, tables of text."""
