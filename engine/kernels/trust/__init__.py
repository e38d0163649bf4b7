"""Checks of plants that come from files: every index lies inside the vector that it points into."""
