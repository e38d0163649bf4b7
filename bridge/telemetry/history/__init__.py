"""The history for consoles: samples and notices in a file of bounded size."""
