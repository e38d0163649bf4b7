"""Closed loops of a System before anything moves: consistent initial state, groups, rows and coordinates to keep."""
