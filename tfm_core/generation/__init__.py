"""Writing with a decoder.

`sampling` chooses the next token, `decoding` writes token after token, each read once, and keeps `course`s to go on
from, `beam` looks for the likeliest text; `surprise` says how likely a given text is. `lean` is what makes it fast, and
`gpt2` hands a decoder to transformers.
"""
