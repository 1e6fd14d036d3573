"""What the client says, and what is made of it."""
