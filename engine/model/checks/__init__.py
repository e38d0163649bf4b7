"""What a model must hold before it is built, one module for each kind of part."""
