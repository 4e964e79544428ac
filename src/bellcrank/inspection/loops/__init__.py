"""What check says of closed loops: freedom, redundancy, singular positions."""
