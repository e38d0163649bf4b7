"""Bounded reading of files: YAML and XML with lines, values with units, sizes."""
