"""Campaigns: a scenario run many times with values drawn at random or from a grid (docs/campaigns.md)."""
