"""What steady oscillations do to a mechanism at rest: frequency responses, and responses to spectra."""
