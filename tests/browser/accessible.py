"""What axe-core finds on a page that would keep somebody from using it (https://github.com/dequelabs/axe-core)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import Visitor

Rules = Mapping[str, Any]  # as axe-core's options name them

GRAVE = {"serious", "critical"}  # axe's names of the two highest of its four impacts
ALL: Rules = MappingProxyType({})
CONTRAST: Rules = {"runOnly": ["color-contrast"]}  # takes two thirds of the time; no other rule depends on the colours
ALL_BUT_CONTRAST: Rules = {"rules": {"color-contrast": {"enabled": False}}}


def barriers(visitor: Visitor, rules: Rules = ALL) -> list[str]:
    """What is wrong, and with which element."""
    violations = Axe().run(visitor.page, options={"resultTypes": ["violations"], **rules}).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
