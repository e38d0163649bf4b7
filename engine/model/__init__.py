"""System, and what makes one: elements, readers of YAML, URDF and MJCF, checks, the Plant."""
