"""Changes of a tour, judged in constant time each: their definition, local search with them, a way to feasibility."""
