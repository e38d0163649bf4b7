"""The nodes of the sweeps: hinges, bodies and modal bodies, and what each hands to its parent."""
