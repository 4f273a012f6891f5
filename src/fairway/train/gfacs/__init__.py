"""GFACS: ants whose heuristic is learned by trajectory balance, from their own tours and from locally searched ones."""
