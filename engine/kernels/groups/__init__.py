"""Bodies that constraint embedding aggregates to one node, and rows of loops that act by force."""
