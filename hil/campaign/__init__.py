"""Campaigns: a scenario run many times with values drawn at random or from a grid (docs/how-to/campaigns.md)."""
