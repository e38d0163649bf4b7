"""Code that reads and writes the messages of a device: a header in C, functions for MATLAB and Octave."""
