"""Who computes the chunks of a sweep: threads and processes of this machine, or workers of a cluster."""
