"""From scores to tours."""
