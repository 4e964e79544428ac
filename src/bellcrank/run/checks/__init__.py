"""What a run is asked before, while and after it goes: does it fit into memory, is its end in sight, can it be trusted."""
