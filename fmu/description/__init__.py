"""What an FMU says of itself: model descriptions, terminals, documentation, pictures, reference result."""
