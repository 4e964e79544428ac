"""The response of a mechanism at rest to steady oscillations: frequency responses, and responses to spectra."""
