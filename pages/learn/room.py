"""The page on which a room is entered, and on which its owner has the desk."""

from tfm_ui.classroom import room_page

room_page.show()
