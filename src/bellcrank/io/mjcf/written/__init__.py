"""What a model as MJCF is written from: its loops, forces and servos."""
