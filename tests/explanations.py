"""Texts on screen, as they were before the glossary explained their words and acts were put into two words."""

import re


def without_explanations(html: str) -> str:
    """HTML without what the glossary has put into it, in the words for a mouse."""
    plain = re.sub(r'<span class="by_mouse">(.*?)</span><span class="by_touch">.*?</span>', r"\1", html)
    return re.sub(r'<span class="word"[^>]*>(.*?)</span>', r"\1", plain)
