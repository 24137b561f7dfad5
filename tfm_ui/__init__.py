"""tfm_ui: the app's pages and everything that they need. It uses tfm_core, which knows nothing of it."""
