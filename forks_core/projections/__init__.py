"""Pure views of the registry."""
