"""The HTTP service under load, killed at random, and given whatever a stranger may send.

`python -m benchmarks.service` runs all of it in full; the tests run a little of each.
"""
