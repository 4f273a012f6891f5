"""Tours with any of the constraints, by exact simulation: the general variant beside the plain kernels.

`tour_model` is what an instance asks for as arrays, and `order` what follows from its precedences; `timing` says when a
stop is served, `duration` when to leave; `enumeration` goes through all orders of a few stops. `insertion` and `pairs`
put stops into a tour, `exchange` moves blocks of it by `trial`, and `annealing` searches by both from one `state` to
the next.
"""
