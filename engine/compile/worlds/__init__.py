"""Code for one world → code for several worlds at once: every number becomes a vector with one number for each world.

This room rewrites LLVM's text of an entry or routine after the passes. Each kernel is thus written once, and a world
among others goes through the same operations in the same order as alone.

Memory: an array of float64 becomes one of vectors, each number beside that of the next world. Integers belong to the
topology and are shared. So is control flow: where a branch, an address or a stored integer depends on numbers, all
worlds have to agree. If they disagree, the code returns at once with its work half done, and its caller runs these
worlds one by one. An entry reports in the last of its arguments how many worlds it took, or 0 if they disagreed.
"""
