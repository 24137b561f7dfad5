"""Writing with a decoder: which token comes next (`sampling`), token after token (`decoding`), and how surprising a
text is to it (`surprise`).
"""
