"""Makes the pictures of the documentation: python -m tests.pictures."""
