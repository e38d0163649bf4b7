"""Contacts: where shapes meet at the end of a step, and the contact forces, which are constant over it."""
