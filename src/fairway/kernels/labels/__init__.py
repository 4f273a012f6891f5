"""Labels: partial tours, extended layer by layer, of which only those are kept that may become the best one.

`reference` is the definition. `label_model` says what an instance allows, `bound` what completing a label costs at
least; `ng_paths` and `relaxed` raise that bound, `ng_tours` and `ng_ascent` further where resources can be exact (their
labels are compared in `ng_groups` or `ng_cells`). `layers` has the loops, and `run` drives them.
"""
