"""The dynamics engine: models, compiled kernels, the Python face. It knows nothing of the other rooms."""
