"""Forces along hinges and on bodies: springs, friction, motors, valves, thrusters, central gravity."""
