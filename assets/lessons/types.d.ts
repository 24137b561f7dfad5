/* What progress.js keeps: lesson -> step -> what is known of it. tfm_ui/lessons/progress.py reads it. */

type Progress = Record<string, Record<string, Record<string, unknown>>>

interface Window {
  attentionLabProgress?: { age: number, forgotten: number, told: string }
}

/* What lecture.js keeps: the text of a lesson's file, and the time of its last change in milliseconds. */

interface Lecture { text: string, changed: number }

interface Window {
  attentionLabLecture?: number
}

/* What the speaker's clock knows: minutes that are planned, and when lecture and step began and what the server's clock says, in
   seconds since 1970. */

interface LectureClock { before: number, step: number, lecture: number, began: number, stepBegan: number, now: number }
