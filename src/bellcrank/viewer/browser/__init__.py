"""A mechanism in the browser, by viser: its motion, its forces, its plots, and sliders for its design."""
