/**
 * Whether an object of a JSON text has two members of one name.
 *
 * @param text valid JSON
 */
export function hasRepeatedName(text: string): boolean {
  /** Names of the objects that are open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let mayBeName = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case "{":
        open.push(new Set());
        mayBeName = true;
        break;
      case "[":
        open.push(undefined);
        mayBeName = false;
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        mayBeName = open.at(-1) !== undefined;
        break;
      case '"': {
        const end = endOfText(text, at);
        if (mayBeName) {
          const names = open.at(-1);
          const name = nameIn(text.slice(at, end + 1));
          if (names?.has(name)) return true;
          names?.add(name);
          mayBeName = false;
        }
        at = end;
        break;
      }
    }
  }
  return false;
}

/** @returns index of the quotation mark that ends the text that begins at one */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Names are compared as they are meant: an escape stands for its character. */
const nameIn = (quoted: string): string => (quoted.includes("\\") ? String(JSON.parse(quoted)) : quoted.slice(1, -1));
