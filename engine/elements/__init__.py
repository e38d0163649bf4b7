"""Force elements of spacecraft: a central gravity field, thrusters and rotors of constant momentum."""
