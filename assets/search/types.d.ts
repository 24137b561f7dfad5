/* The search: what the server hands over, and what is made of it. */

type IndexRow = [kind: string, name: string, title: string, place: string, words: string, also: string]

interface SearchEntry {
  id: string // kind and name
  kind: string
  name: string
  title: string
  place: string
  words: string
  also: string
}

interface Hit {
  entry: SearchEntry
  terms: Set<string> // words of the entry that were found
}

interface Finding {
  entry(id: string): SearchEntry | undefined
  find(text: string, recent?: Set<string>): { hits: Hit[], isClosest: boolean }
}

interface SearchData {
  index: string // the address of the index, below the app's
}

interface Chosen {
  kind: string
  name: string
  number: number // counts the choices of this window
}

interface SearchComponent {
  data: SearchData
  parentElement: HTMLElement | ShadowRoot
  setTriggerValue(name: "chosen", value: Chosen): void
}
