"""Many runs at a time, one in each lane of machine code."""
