"""Texts that would do something if they were more than text, and what became of them on a page."""

from playwright.sync_api import Page

HURTS = "<img src=x onerror=window.hurt=1> </script><script>window.hurt=1</script> "
ADDRESSES = "http://evil.test/login www.evil.test a@evil.test [x](//evil.test) <a href=//evil.test>x</a> $x$ :red[x]"


def made_of_it(page: Page) -> list[str]:
    """Links and images that somebody's text has become."""
    links = page.locator("a[href*=evil i], a[href^='mailto:' i], img[src*=evil i]")
    return links.evaluate_all("all => all.map(e => e.outerHTML)")
