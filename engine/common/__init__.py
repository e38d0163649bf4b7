"""Errors, and checks of what users hand in, whatever they call."""
