"""Tables of Plant, Work and State, declared once; views, sizes, the C header and checks of plant files follow from
them."""
