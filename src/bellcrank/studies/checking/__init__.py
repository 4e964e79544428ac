"""Independent computations of derivatives that check ours, and the cases in which no derivative exists."""
