"""The view "look": where each written token looked at the moment it was written."""
