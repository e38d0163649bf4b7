"""Hardware-in-the-loop executive around the engine process (not part of this release)."""
