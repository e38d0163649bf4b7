"""Other tools' FMUs as controllers and actuators inside a Simulation."""
