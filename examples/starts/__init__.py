"""What `limberjack new` writes models and scenarios from."""
