"""Pictures of mechanisms and their motions. Reads Model and Run, never steps physics."""
