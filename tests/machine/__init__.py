"""A machine that drives real command lines, and crashes whatever it can between and within them."""
