"""Model files to Systems."""
