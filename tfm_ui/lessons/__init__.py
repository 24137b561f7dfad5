"""Lessons: text files of steps, each a page of the app with a few words, a prediction or a task. docs/lessons.md."""
