"""What is asked: instances, sets and batches of them, the laws that generate them, the published beds, the files."""
