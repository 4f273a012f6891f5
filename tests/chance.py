"""Tours at random."""

import torch


def sampler(generator):
    """Candidates in proportion to the exponential of their scores, by the Gumbel trick."""

    def sample(scores):
        uniform = torch.rand(scores.shape, generator=generator).clamp(1e-20, 1 - 1e-7)
        return (scores - torch.log(-torch.log(uniform))).argmax(-1)

    return sample
