"""Hardware in the loop: a test bench around a running simulation."""
