"""Closed chains while they run: dynamics with loops closed, projection, switching, reactions."""
