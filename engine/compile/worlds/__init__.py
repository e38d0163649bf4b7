"""Code for one world → code for several worlds at once: every number becomes a vector, one number for each world.

What is rewritten is LLVM's text of an entry or routine after the passes, so each kernel is written once, and a world
among others takes the operations that it takes alone, in the same order.

Memory: an array of float64 becomes one of vectors, each number beside that of the next world. Integers are those of the
topology, one for all. Control is shared: where a branch, an address or a stored integer follows from numbers, all
worlds have to agree. Where they do not, the code ends at once, half done, and its caller takes these worlds alone. An
entry says in the last of its arguments how many worlds it took, or 0 where they disagreed.
"""
