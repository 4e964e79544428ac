"""The equations that close loops, written on kernels."""
