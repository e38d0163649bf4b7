"""What a model looks like and where it is at a state, for every 3-D view."""
