"""Many runs of a scenario at once: the worlds of a batch on benches of their own (docs/how-to/campaigns.md)."""
