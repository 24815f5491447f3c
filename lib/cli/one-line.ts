/** A text on one line: what others have written must not look like a line of ours. */
export const oneLine = (text: string): string => text.replaceAll(/[\r\n\v\f\u0085\u2028\u2029]+/g, " ");
