"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "0bb7c84b7c82b5eb9cee76d74b763ddc448f393cdf79d86cf66ca0afe9f08eb7"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
