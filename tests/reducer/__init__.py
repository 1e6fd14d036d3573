"""How the state moves."""
