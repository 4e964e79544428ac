"""Implicit methods: stages by Newton's method, with exact Jacobians from the tangents of the kernel."""
