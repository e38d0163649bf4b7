"""The dictionary of a model in the formats of consoles and people, and the list of them."""
