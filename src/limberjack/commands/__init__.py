"""What the `limberjack` command does, one module a subject."""
