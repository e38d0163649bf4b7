"""What is decided about closed chains when a model is built: groups, dependent velocities, positions."""
