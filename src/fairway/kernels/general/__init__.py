"""Tours with any of the constraints, by exact simulation: the general variant beside the plain kernels.

`tour_model` is what an instance asks for as arrays; `timing` says when a stop is served, `duration` when to leave;
`enumeration` goes through all orders of a few stops; `insertion` and `pairs` put stops into a tour, and `annealing`
searches by ruining and recreating it.
"""
