"""What users import: Simulation, Dynamics, linearize."""
