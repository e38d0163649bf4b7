"""Derivatives of dynamics, forces and outputs along the velocities, for linear models, estimation and FMUs."""
