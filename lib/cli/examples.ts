/**
 * The end of a command's help: what to type, one line each.
 *
 * @param lines without `portolan`
 */
export function examplesText(lines: readonly string[]): string {
  const title = lines.length === 1 ? "Example" : "Examples";
  return `\n${title}:\n${lines.map((line) => `  portolan ${line}`).join("\n")}`;
}
