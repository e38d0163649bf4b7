"""Outputs of a model, and instruments with errors, samples and delays."""
