"""How steadily the executive runs, beside an empty loop in C."""
