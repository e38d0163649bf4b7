"""The compiled engine: the same code for every model; the model is data."""
