"""Many runs of one model in lanes: starts, designs, samples."""
