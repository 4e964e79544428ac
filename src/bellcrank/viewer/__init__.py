"""Pictures of a mechanism. This package reads Model and Run, and never steps physics."""
