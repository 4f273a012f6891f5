"""Millions of instances: streamed in chunks to the cores of this machine or of a Ray cluster, and written as they come.

- `sources`: where instances come from, cut into chunks
- `executor`: what runs tasks; `local` and `ray_pool` are the two kinds of workers that there are, `engine` names them
- `answers`: what a worker makes of a piece of a chunk
- `driver`: chunks over workers, some of which are lost on the way
- `results`, `batch`: files that a crash cannot spoil; `many`: the same as an iterator
- `spread`: any tasks in order, for evaluations
- `decoding`: tours of a trained policy, over workers with a GPU each

Nothing outside `ray_pool` knows Ray.
"""
