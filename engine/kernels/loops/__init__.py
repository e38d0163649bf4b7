"""Closed chains in a simulation: dynamics with closed loops, projection, switching, reactions."""
