"""The compiled engine: one generic text for every model; the model is data."""
