"""What axe-core finds on a page that would keep somebody from using it (https://github.com/dequelabs/axe-core)."""

from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import Visitor

GRAVE = {"serious", "critical"}  # axe's names of the two highest of its four impacts
FOUND = {"resultTypes": ["violations"]}


def barriers(visitor: Visitor) -> list[str]:
    """What is wrong, and with which element."""
    violations = Axe().run(visitor.page, options=FOUND).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
