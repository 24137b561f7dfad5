"""Pictures between a page and a server that answer as they are told, in any order: no app."""

from playwright.sync_api import Page

Refusals = list[tuple[int, str, dict[str, str]]]  # status, words and headers of the answers to come, the last one first
PAGE = "<!doctype html><body><div id=page><div data-picture>picture</div></div>"
# says(query, heard): the page has run; acts: what a picture may do; drawn: the queries whose pictures were drawn
SCRIPT = """async () => {
  const { follow } = await import("/pictures/follow.js"), parentElement = document.querySelector("#page")
  Object.assign(window, { drawn: [], late: [], told: [], breaks: 0 })
  const picture = acts => {
    window.acts = acts
    if (breaks-- > 0) throw new Error("a picture that cannot be drawn")
    drawn.push(acts.header.query)
    late.push(acts.late)
  }
  window.says = (query, heard) => follow({
    data: { name: "it", early: false, query, heard }, parentElement, setTriggerValue: (_, wish) => told.push(wish),
  }, picture)
  says("", 0)
}"""


def shows(page: Page, query: str) -> None:
    page.wait_for_function("query => drawn.at(-1) === query", arg=query, timeout=8000)


# A second picture of the page: drawn2, says2.
SECOND = """async () => {
  const { follow } = await import("/pictures/follow.js"), parentElement = document.createElement("div")
  parentElement.innerHTML = "<div data-picture></div>"
  document.body.append(parentElement)
  window.drawn2 = []
  const draw = acts => { drawn2.push(acts.header.query) }
  window.says2 = (query, heard, slow = false) => follow(
    { data: { name: "that", early: false, slow, query, heard }, parentElement }, draw)
  says2("", 0)
}"""


def both_show(page: Page, query: str) -> None:
    shows(page, query)
    page.wait_for_function("query => drawn2.at(-1) === query", arg=query, timeout=8000)
