"""Labels: partial tours, extended layer by layer, of which only those are kept that may become the best one.

`reference` is the definition. `law` says what an instance allows, `candidates` what a label may be extended to, `bound`
what completing it costs at least; `ways` and `relaxed` raise that bound. `layers` has the loops, and `run` drives them.
"""
