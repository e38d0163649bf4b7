"""Contacts: where shapes meet at the end of a step, and the forces of contact that hold over it."""
