"""Learned policies: from a batch to pointers that are decoded into tours."""

from fairway.policies.attention import Policy as Policy
from fairway.policies.config import AM as AM
from fairway.policies.config import POMO as POMO
from fairway.policies.config import PolicyConfig as PolicyConfig
