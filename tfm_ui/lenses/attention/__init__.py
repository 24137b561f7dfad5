"""The Attention lens."""
