"""What axe-core finds on a page that would keep somebody from using it (https://github.com/dequelabs/axe-core)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.conftest import Visitor

Rules = Mapping[str, Any]  # as axe-core's options name them

GRAVE = {"serious", "critical"}  # axe's names of the two highest of its four impacts
ALL: Rules = MappingProxyType({})
# Contrast takes two thirds of the time; no other rule depends on the colours.
ALL_BUT_CONTRAST: Rules = {"rules": {"color-contrast": {"enabled": False}}}


EVERYWHERE = ""
RUN = """async ([within, options]) => (await axe.run(within || document, options)).violations
  .flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => [impact, `${id}: ${html.slice(0, 200)}`]))"""


def barriers(visitor: Visitor, rules: Rules = ALL, within: str = EVERYWHERE) -> list[str]:
    """What is wrong, and with which element. A page that was opened keeps axe's script."""
    if not visitor.page.evaluate("() => 'axe' in window"):
        visitor.page.evaluate(AXE_SCRIPT)
    violations = visitor.page.evaluate(RUN, [within, {"resultTypes": ["violations"], **rules}])
    return [what for impact, what in violations if impact in GRAVE]
