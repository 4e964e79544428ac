"""What a mechanism looks like. Reads Model and Run, never steps physics."""
