"""The hot questions, each a folder with its definition inside and fast answers that must equal it."""
