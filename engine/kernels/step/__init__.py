"""Integrators and the loop over steps; checks and sizes for callers that set numbers one by one."""
