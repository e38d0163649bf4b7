"""Forward and inverse dynamics, mass matrix, kinematics: base to tip and back."""
