"""Parts of a page as Streamlit draws them, for tests and benchmarks in a browser: selectors of its elements."""

STATE = "data-test-script-state"  # attribute of the page: "running", "notRunning", or "initial" before its first run
APP = f"[{STATE}]"
HEADER, SIDEBAR, MAIN = ".stAppHeader", ".stSidebar", ".stMain"  # MAIN scrolls, and is all that a view changes
LENSES = f"{HEADER} nav a"  # links to pages, in a wide window
UNFOLD = f"{HEADER} [aria-controls]"  # the button that opens the sidebar
FOLD = f"{SIDEBAR} [aria-controls=stSidebar][aria-expanded=true]"  # the one that folds it, while it is open
MENU = "[data-st-overlay-root][role=dialog]"  # what a popover has opened
ELEMENT = ".stElementContainer"  # what surrounds each element
ERROR, PROGRESS, SPINNER, TABLE = ".stException", ".stProgress", "[data-testid=stSpinner]", ".stDataFrame"
MARKDOWN, PLAIN_TEXT = "[data-testid=stMarkdownContainer]", "[data-testid=stText]"
COMPONENT, SKELETON = "[data-testid^=stBidiComponent]", "[data-testid^=stSkeleton]"  # a component; one on its way
FIRST_CELL = "[data-testid=glide-cell-1-0]"  # of a table: column 1, row 0
