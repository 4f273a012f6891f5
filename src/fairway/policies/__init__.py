"""Learned policies: from a batch to pointers that are decoded into tours."""

from fairway.policies.attention import AM as AM
from fairway.policies.attention import POMO as POMO
from fairway.policies.attention import Policy as Policy
from fairway.policies.attention import PolicyConfig as PolicyConfig
