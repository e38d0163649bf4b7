"""Test cases of the bench: a YAML file says what runs, what happens when, and what must hold."""
