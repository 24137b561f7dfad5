/* Elements of pictures: making them, finding them, and keys that are pressed in them. */

/** An element with these properties, around others.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {object} [more] @param {...(Node | string)} inside */
export function make(tag, more = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), more)
  element.append(...inside)
  return element
}

/** How a picture finds its parts.
 * @param {ParentNode} root @returns {(selector: string) => HTMLInputElement} */
export const partsOf = root => selector => root.querySelector(selector)

/** Do what a key stands for in a picture, if anything. The page, which has keys of its own, does not hear of it then.
 * @param {KeyboardEvent} event @param {ByKey<() => void>} acts */
export function actOn(event, acts) {
  const act = acts[event.key]
  if (!act) return
  event.preventDefault()
  event.stopPropagation()
  act()
}
