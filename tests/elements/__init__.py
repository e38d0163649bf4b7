"""Tests of force elements."""
