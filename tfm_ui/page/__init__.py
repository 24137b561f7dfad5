"""What surrounds every lens: controls, panels, questions, the sidebar, undo, presenting."""
