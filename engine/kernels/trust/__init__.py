"""Checks of plants that come from files: every index lies inside of what it points into."""
