"""The appearance of a model, and its poses at a state, for all 3-D views."""
