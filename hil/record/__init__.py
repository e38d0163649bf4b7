"""Records of runs: written while they last, read, replayed, compared."""
