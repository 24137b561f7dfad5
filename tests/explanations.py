"""Texts on screen, as they were before the glossary explained their words."""

import re


def without_explanations(html: str) -> str:
    """HTML without what the glossary has put into it."""
    plain = re.sub(r'<span class="about" aria-hidden="true">.*?</span>', "", html)
    return re.sub(r'<span class="word"[^>]*>(.*?)</span>', r"\1", plain)
