"""Complete controllers to copy: Python, C, Octave and MATLAB balance a pole on a cart, each over a link of its own."""
