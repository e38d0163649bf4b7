"""Descriptions of flexible bodies for `limberjack modes`."""
