"""Test cases of the bench: a YAML file names the model and devices, the timeline, and the criteria."""
