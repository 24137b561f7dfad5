/* What progress.js keeps: lesson -> step -> what is known of it. tfm_ui/lessons/progress.py reads it. */

type Progress = Record<string, Record<string, Record<string, unknown>>>

interface Window {
  attentionLabProgress?: { age: number, forgotten: number, told: string }
}
