"""Attention masks: boolean tensors, True = may attend."""
