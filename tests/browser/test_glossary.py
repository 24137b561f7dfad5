"""Words of the glossary on a page: each is marked at its first place alone, and its explanation is in sight."""

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import SIDEBAR
from tests.browser.conftest import PHONE, Visitor
from tests.browser.test_live_sliders import TOKENS, held

PATHS = (
    "/",
    "/heads?weights=lab-gpt",
    "/attention?attention_view=dictionary",
    "/masks?masks_view=padding",
    "/model",
    "/generate",
    "/training",
    "/positions",
    "/profiling",
    "/learn",
    "/attention?attention_view=dictionary&lesson=start-here.softmax",
)
# Words in their order on the page: those that are marked though they were before, or not marked though they were not.
WRONG = """() => {
  const known = new Set(), wrong = [], words = [...document.querySelectorAll(".word")].filter(e => e.checkVisibility())
  const inSidebar = words.filter(word => word.closest("SIDEBAR"))
  for (const word of [...words.filter(word => !inSidebar.includes(word)), ...inSidebar]) {
    const about = word.dataset.about, isPlain = word.classList.contains("again")
    const isMarked = getComputedStyle(word).textDecorationStyle === "dotted"
    const isButton = word.tabIndex === 0 && word.role === "button" && word.ariaLabel?.endsWith(about)
    const hasOther = isPlain ? isButton || word.tabIndex === 0 : !isButton
    if (known.has(about) !== isPlain || isMarked === isPlain || hasOther) {
      wrong.push(word.textContent)
    }
    known.add(about)
  }
  return wrong
}""".replace("SIDEBAR", SIDEBAR)
MARKED = ":is(.word):not(.again):visible"
# Whether its explanation is on screen: over all else, and within the window.
EXPLAINED = """word => {
  const style = getComputedStyle(word, "::after"), text = word.closest(".said, .law, .how, .note, .ask, li")
  if (style.content !== JSON.stringify(word.dataset.about)) return false
  const box = text.getBoundingClientRect()
  const left = box.left + parseFloat(style.left), top = box.top + parseFloat(style.top)
  const outer = ["width", "paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"]
  const isBorder = style.boxSizing === "border-box"
  const wide = (isBorder ? outer.slice(0, 1) : outer).reduce((sum, name) => sum + parseFloat(style[name]), 0)
  const at = document.elementFromPoint(left + wide / 2, top + parseFloat(style.height) / 2)
  return at === word && left >= 0 && left + wide <= innerWidth
}"""
CHANGES = """() => new Promise(done => {
  let count = 0
  new MutationObserver(all => { count += all.length }).observe(document.body,
    { subtree: true, childList: true, attributes: true, attributeFilter: ["class", "tabindex", "role"] })
  setTimeout(() => done(count), 500)
})"""


def each_is_marked_once(visitor: Visitor) -> None:
    """The marks follow the page in its next frame."""
    visitor.page.wait_for_function(f"() => ({WRONG})().length === 0")


def test_on_each_page_a_word_is_marked_once_at_its_first_place(visit):
    visitor = visit(PATHS[0])
    for path in PATHS:
        visitor.back_to(path)
        each_is_marked_once(visitor)
    assert visitor.page.locator(".word.again").count() > 0  # or nothing was tested


def test_so_it_is_with_words_that_come_with_pictures_and_when_the_first_place_goes(visit):
    visitor = visit("/heads")
    with held(visitor, TOKENS, 4):
        visitor.page.wait_for_function("document.documentElement.hasAttribute('data-behind')")
        each_is_marked_once(visitor)
        visitor.page.wait_for_function(f"async () => await ({CHANGES})() === 0")  # they come to an end
    visitor.wait()
    each_is_marked_once(visitor)
    first = visitor.page.locator(f".ask {MARKED}").first
    about = first.get_attribute("data-about")
    assert visitor.page.locator(f'.again[data-about="{about}"]').count()
    visitor.page.evaluate("document.querySelector('.ask').hidden = true")
    visitor.page.evaluate("document.querySelector('.ask').append('')")
    expect(visitor.page.locator(f'[data-about="{about}"]{MARKED}')).to_have_count(1)
    each_is_marked_once(visitor)


def explanations_are_in_sight(visitor: Visitor, place: str, act: str) -> None:
    words = visitor.page.locator(f"{place} {MARKED}")
    assert words.count()
    for word in words.all():
        word.scroll_into_view_if_needed()
        getattr(word, act)()
        assert word.evaluate(EXPLAINED), word.inner_text()


def test_an_explanation_lies_over_all_else_and_within_the_window(visit):
    visitor = visit("/attention?attention_view=dictionary")
    each_is_marked_once(visitor)
    for place in (".ask", ".reads", ".said"):
        explanations_are_in_sight(visitor, place, "hover")
    visitor.back_to("/attention?attention_view=dictionary&lesson=start-here.softmax")
    each_is_marked_once(visitor)
    explanations_are_in_sight(visitor, ".ask", "hover")
    visitor.back_to("/attention?attention_view=dictionary&present=true")
    each_is_marked_once(visitor)
    explanations_are_in_sight(visitor, ".reads", "hover")


def test_a_tap_explains_a_word_on_a_phone(visit):
    visitor = visit("/heads", **PHONE)
    each_is_marked_once(visitor)
    for place in (".ask", ".said"):
        explanations_are_in_sight(visitor, place, "tap")
