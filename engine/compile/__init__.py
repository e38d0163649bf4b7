"""How kernels become machine code: marks for functions, and the library of compiled entries that all run."""
