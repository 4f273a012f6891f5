"""Why there is no tour, and what would help.

- `explanation`: the verb
- `trivial`, `plain`: what can be seen without a search, of the classic problems and of any instance; subsets of stops
- `feasibility`: is there any tour at all? If not, the least late order
- `conflict`, `narrowing`: the stops that cannot be served together, of the classic problems and of any instance
- `limits`, `numbers`: what is asked, in words; an instance without some of it, or with another number
- `relaxation`, `change`: the smallest change with which there is a tour, likewise
"""
