"""How many examples hypothesis makes up for a law that is tested of many things one by one."""

from hypothesis import settings

LEAST = 4  # the first that hypothesis makes up is the smallest there is, and tells little


def shared_by(count: int) -> settings:
    """Settings for one of so many tests of the same law: together they get the examples that a law has alone.

    The number is the profile's, so that `--all` looks further.
    """
    return settings(max_examples=max(LEAST, settings().max_examples // count))
