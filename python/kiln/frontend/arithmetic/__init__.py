"""Numbers: how constants are spelled and folded, which dtype operands meet in, casts, operators."""
