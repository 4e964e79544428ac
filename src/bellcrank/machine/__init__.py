"""The walk over a model's bodies, its closures and force elements, written on kernels."""
