"""The rows of the table, one file a question."""
