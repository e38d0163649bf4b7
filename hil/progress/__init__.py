"""How a run goes while it lasts: a separate process samples it beside its loop."""
