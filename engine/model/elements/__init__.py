"""Each kind of element declared once: schema, reading, checks, tables, parameters and reference follow from it."""
