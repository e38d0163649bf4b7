"""What an FMU says about itself: model descriptions, terminals, documentation, pictures, reference result."""
