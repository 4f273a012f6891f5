"""Learned policies: from a batch to pointers that are decoded into tours."""
