/* What the search calls of MiniSearch (README.md); https://lucaong.github.io/minisearch has all of it. */

export interface Options {
  idField: string
  fields: string[]
  tokenize: (text: string) => string[]
  processTerm: (term: string) => string | string[] | null
}

export interface SearchOptions {
  boost: Record<string, number>
  boostDocument: (id: string) => number
  combineWith: "AND" | "OR"
  fuzzy: (term: string) => number | false
  prefix: boolean
  processTerm: (term: string) => string
  weights: { fuzzy: number, prefix: number }
}

export interface Result {
  id: string
  score: number
  terms: string[] // of the entry, that were found
}

export default class MiniSearch<Document> {
  constructor(options: Options)
  addAll(documents: Document[]): void
  search(text: string, options: SearchOptions): Result[]
}
