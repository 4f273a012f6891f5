"""Fairway."""
