"""Spatial vectors and rotations on tuples, lanes of numbers, small solves, sine and cosine; what counts as zero."""
