"""Descriptions inside an FMU: model description, terminals, documentation, pictures, reference result."""
