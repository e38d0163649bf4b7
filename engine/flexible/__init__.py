"""Modal bodies in the recursions: deformation, attachment nodes, articulated inertia with modal coordinates (003)."""
