"""When a control is moved on which a picture does not depend, the picture is not asked for, and words still follow."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visitor

SHOWN = """all => all.filter(({ _follow }) => _follow)
    .map(({ _follow, dataset }) => [_follow.component.data.name, _follow.shown, dataset.settled])"""


def asked_when(visitor: Visitor, seed: int) -> list[str]:
    """The names that the browser asks for when the seed is moved, until everything has followed."""
    names: list[str] = []
    visitor.wait()

    def note(request) -> None:
        if request.method == "POST" and "/pictures/" in request.url:
            names.extend(request.url.rsplit("/", 1)[1].split("+"))

    visitor.page.on("request", note)
    visitor.choose_seed(seed)
    visitor.page.wait_for_url(re.compile(f"seed={seed}\\b"))
    visitor.wait()
    visitor.page.remove_listener("request", note)
    return names


def of_a_page_only_what_depends_on_the_seed_is_asked_for(visitor) -> None:
    asked_when(visitor, 2)  # the address says more than a state: the default of the weights
    names = asked_when(visitor, 3)
    assert {"masks_see", "masks.words"} <= set(names)
    assert not {"masks_growth", "masks_composer", "masks_batch"} & set(names)
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text("seed 3")
    shown = {
        name: (query, settled) for name, query, settled in visitor.page.locator("[data-picture]").evaluate_all(SHOWN)
    }
    assert shown["masks_growth"] == shown["masks_see"]  # what stands in files and links is the same for both
    assert "seed=3" in shown["masks_growth"][0]
    assert shown["masks_growth"][0] == shown["masks_growth"][1]


def other_controls_are_still_followed(visitor) -> None:
    slider = visitor.page.get_by_role("slider", name="Tokens")
    with visitor.page.expect_request(re.compile("masks_growth")):
        slider.press("ArrowLeft")
    visitor.wait()


def test_only_what_depends_on_a_control_is_asked_for_and_of_a_page_without_it_words_alone(visit):
    visitor = visit("/masks?weights=random", height=1100)
    of_a_page_only_what_depends_on_the_seed_is_asked_for(visitor)
    other_controls_are_still_followed(visitor)
    visitor.back_to("/attention?attention_view=dictionary")
    assert set(asked_when(visitor, 3)) == {"attention.words"}
