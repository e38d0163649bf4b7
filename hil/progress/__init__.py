"""How a run goes while it lasts: sampled beside its loop, by a process of its own."""
