/* What the linter asks of the browser scripts and their tests; undefined names and types are tsc's (tsconfig.json). */

import js from "@eslint/js"

/* Which imports the scripts of a room must not have. */
const closed = (room, regex, message) => ({
  files: [`assets/${room}/**/*.js`],
  rules: { "no-restricted-imports": ["error", { patterns: [{ regex, message }] }] },
})

export default [
  { ignores: [".venv/", "assets/minisearch/", "assets/plotly/"] },
  js.configs.recommended,
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off", // tsc knows the browser's names
      "no-unused-vars": ["error", { args: "after-used", argsIgnorePattern: "^_" }],
      "array-callback-return": "error",
      "default-case-last": "error",
      "eqeqeq": "error",
      "max-lines": ["error", 500],
      "no-constructor-return": "error",
      "no-duplicate-imports": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-self-compare": "error",
      "no-shadow-restricted-names": "error",
      "no-template-curly-in-string": "error",
      "no-unmodified-loop-condition": "error",
      "no-unreachable-loop": "error",
      "no-useless-assignment": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "off",
      "semi": ["error", "never"],
      "quotes": ["error", "double", { avoidEscape: true, allowTemplateLiterals: true }],
      "max-len": ["error", { code: 150 }],
      // No script writes markup: user text reaches the page through textContent and fillText.
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }],
      "no-restricted-globals": ["error", "event", "name", "status"],
      "id-denylist": ["error", "found", "own", "seen", "one"],
    },
  },
  closed("page", "^\\.\\./(?!streamlit_private/)", "The scripts around the lenses import from their own folder and streamlit_private/ alone."),
  closed("pictures", "^\\.\\./(?!streamlit_private/)", "What lenses share knows no lens and no page."),
  closed("streamlit_private", "^\\.", "What is private to Streamlit knows nothing of the app."),
  closed("search", "^\\.\\./(?!minisearch/|streamlit_private/)", "The search imports from its own folder, its library and streamlit_private/ alone."),
  closed("notebook", "^\\.\\./(?!pictures/)", "A notebook's widget imports from its own folder and from pictures/ alone."),
  closed("lenses", "^\\.\\./(?!\\.\\./pictures/)", "A lens imports from its own folder and from pictures/ alone."),
]
