"""The workflow of operators: from a table of readings to a model, and back."""
