"""The engine in C: plant files, compiled models, and the C interface that other programs link against."""
