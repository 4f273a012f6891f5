"""Why there is no tour, and what would help.

- `explanation`: the verb
- `decision`: is there any tour at all? If not, the least late order
- `obstacles`: why there is none, where that is plain to see
- `conflict`: the stops that cannot be served together
- `repair`: the smallest change with which there is a tour
"""
