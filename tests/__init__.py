"""Tests of Limberjack: one package an area, shared helpers imported as ``tests.<area>.<helper>``."""
