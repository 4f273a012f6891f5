"""What is asked: instances, sets and batches of them, their generators, the published test sets, the file formats."""
