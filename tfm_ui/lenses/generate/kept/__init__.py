"""The view "kept": the key-value cache, what it stores and what it saves."""
