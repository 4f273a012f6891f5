"""Training: from a config to a stream of records, and from records to files."""
