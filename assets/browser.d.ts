/* What browsers have and the checker's library does not know. */

/** https://developer.mozilla.org/docs/Web/API/Navigation_API; not in every browser. */
declare var navigation: EventTarget & {
  readonly currentEntry: { readonly index: number } | null
  addEventListener(type: "currententrychange", listener: (event: Event & { navigationType: string | null }) => void): void
  removeEventListener(type: "currententrychange", listener: (event: any) => void): void
}
