"""Drives with states of their own: motors with a current loop and a gear, valves of thrusters."""
