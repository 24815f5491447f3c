/** What is to be said of whatever was thrown: its message, if it is an error. */
export const causeText = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
