/** Lines of comments that follow each other, without their marks. */
export interface Comment {
  readonly text: string;
  /** 1-based. */
  readonly line: number;
}

/** The comments of a stream of YAML; also what looks like one within a text, so that none is missed. */
export function commentsIn(stream: string): readonly Comment[] {
  const comments: { line: number; lines: string[] }[] = [];
  let last = 0;
  for (const [index, text] of stream.split(/\r\n|\r|\n/).entries()) {
    const comment = /(?:^|\s)#+(.*)$/s.exec(text)?.[1];
    if (comment === undefined) continue;
    const line = index + 1;
    if (last === line - 1) comments.at(-1)?.lines.push(comment);
    if (last !== line - 1 || comments.length === 0) comments.push({ line, lines: [comment] });
    last = line;
  }
  return comments.map(({ line, lines }) => ({ line, text: lines.join("\n") }));
}
