"""From the syntax tree to operations: one part of the `Compiler` a file."""
