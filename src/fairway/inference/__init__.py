"""Trained policies at work: how tours are taken from them, for evaluations and for `solve` alike."""
