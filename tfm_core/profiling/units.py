"""Seconds and bytes in words, as a person says them: not more exact than an estimate is."""


def in_seconds(seconds: float) -> str:
    """A duration as people say it: 40 s, 3 minutes, 2 hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{round(minutes)} minutes" if minutes < 90 else f"{round(minutes / 60):,} hours"


def in_bytes(count: float) -> str:
    """A number of bytes as people say it: 30 MB, 2.5 GB."""
    return f"{max(1, round(count / 1e6))} MB" if count < 995e6 else f"{count / 1e9:,.1f} GB"
