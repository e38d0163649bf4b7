"""Tables of Plant, Work and State, declared once: views, sizes, C header and checks of plant files follow."""
