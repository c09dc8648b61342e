"""Experiments: programs that measure what halk and its paper claim."""
