"""User text inside Markdown."""


def plain(text: str) -> str:
    """Every sign stands for itself, in one line."""
    return "".join(
        f"\\{sign}" if sign in "\\`*_{}[]<>()#+-.!|~$:^=&\"'" else " " if sign in "\r\n" else sign for sign in text
    )
