/**
 * Whether a text is the beginning of the one before and ends within a line, or is empty: somebody is writing it. Objects
 * taken out on purpose leave whole lines, or no file.
 */
export function isHalfSaved(before: string, now: string): boolean {
  return before.trim() !== "" && now.length < before.length && !now.endsWith("\n") && before.startsWith(now);
}
