"""Computes what pages show of the model in a link: passes and their results, in a cache that all visitors share."""
