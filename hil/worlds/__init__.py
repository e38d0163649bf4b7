"""Many runs of a scenario at once: the worlds of a batch, each on its own bench (docs/how-to/campaigns.md)."""
