"""Tours without learning."""
