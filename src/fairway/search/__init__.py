"""Searches for tours: exact, local, by beams and by ants; and the rollout by which policies build them."""
