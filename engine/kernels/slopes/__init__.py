"""Analytic derivatives of inverse and forward dynamics, of forces and of outputs."""
