"""How kernels become machine code: decorators of functions, and the library of compiled entries."""
