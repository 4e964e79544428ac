"""Long loops, which are eliminated along their own bodies: which ones, and their joints as nodes."""
