"""Tours that have an order to keep and nothing else: the best of them, over the sets of stops that may come first.

Which stops come first decides all that is still to come but for the last of them, so that a layer holds sets, and each
set the cheapest beginning for each of its stops as the last one. What is still to come is bounded by an assignment of
its own for every set, which goes on from that of the set before it (`payments`).
"""
