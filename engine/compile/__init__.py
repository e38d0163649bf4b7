"""How kernels become machine code: marks for functions, the cache, routines compiled once and apart."""
