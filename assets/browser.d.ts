/* What browsers have and the checker's library does not know. */

/** https://developer.mozilla.org/docs/Web/API/Navigation_API; not in every browser. */
declare var navigation: EventTarget & {
  readonly currentEntry: { readonly index: number } | null
  addEventListener(type: "currententrychange", listener: (event: Event & { navigationType: string | null }) => void): void
  removeEventListener(type: "currententrychange", listener: (event: any) => void): void
}

/** An element that a script looks up is there, as the HTML of its component (in tfm_ui) holds it; and it may have all that an
 * input has, unless its tag is named. */
interface ParentNode {
  querySelector<Tag extends keyof HTMLElementTagNameMap>(selector: Tag): HTMLElementTagNameMap[Tag]
  querySelector(selector: string): HTMLInputElement
  querySelectorAll<Tag extends keyof HTMLElementTagNameMap>(selector: Tag): NodeListOf<HTMLElementTagNameMap[Tag]>
  querySelectorAll(selector: string): NodeListOf<HTMLInputElement>
}

interface Node {
  getRootNode(): Document | ShadowRoot
}
