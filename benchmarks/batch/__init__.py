"""Many worlds of a model at once, beside one at a time and MuJoCo's rollout."""
