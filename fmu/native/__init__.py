"""The engine's kernels as object code, linked with the C shim into the binaries that an FMU carries."""
