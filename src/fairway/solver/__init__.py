"""From an instance and a budget to a verified tour, a proof that there is no better one, or a proof that there is none.

- `solving`: the verb, for one instance or many
- `single`: one instance, where the parts are put together
- `request`, `incumbent`, `results`: what is asked, what is known on the way, and what is handed back
- `workers`: many instances over many processes, and what Ctrl-C does
- `warmup`: kernels compiled and loaded before the clock starts
- `explain`: why there is no tour, and what would help
"""
