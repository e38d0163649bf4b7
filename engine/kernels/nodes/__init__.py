"""A node of the sweeps by itself: hinges, bodies, modal bodies, and what crosses to its parent."""
