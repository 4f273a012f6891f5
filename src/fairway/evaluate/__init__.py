"""Beds, methods and what is known about them: the costs that results are compared with."""
