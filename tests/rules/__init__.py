"""Calculations, each with the rule that it holds."""
