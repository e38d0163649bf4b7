"""Tests of the engine's kernels against independent oracles, closed forms and identities."""
