"""The cycle set, doStep, get of FMUs, from a C host: `limberjack bench --fmu`."""
