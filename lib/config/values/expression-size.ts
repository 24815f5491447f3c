/**
 * About how many instructions Envoy's RE2 makes of an expression, told from its text alone, in one pass: what it takes to compile it
 * grows with that, and Envoy refuses one that is too large together with the whole route table. Never less than half of what it is.
 *
 * @see https://github.com/google/re2, re2/compile.cc
 */
export function expressionSize(pattern: string): number {
  const perLetter = /\(\?[a-zA-Z]*i/.test(pattern) ? 2 : 1;
  /** What stands in each group that is open, the whole first. */
  const open: number[] = [0];
  /** The last atom: what a repetition repeats. */
  let last = 0;
  const add = (size: number): void => {
    last = size;
    open.push((open.pop() ?? 0) + size);
  };
  for (let at = 0; at < pattern.length; at += 1) {
    switch (pattern[at]) {
      case "(":
        open.push(0);
        last = 0;
        break;
      case ")":
        // One that closes nothing is no expression, which another check says.
        if (open.length > 1) add((open.pop() ?? 0) + 2);
        break;
      case "[": {
        const end = classEnd(pattern, at);
        add(classSize(pattern.slice(at, end)) * perLetter);
        at = end;
        break;
      }
      case "\\": {
        const unicode = /^\\[pP](?:\{[^}]*\}|.)/.exec(pattern.slice(at, at + 64))?.[0];
        add(unicode === undefined ? 4 : sizeOfUnicodeClass);
        at += (unicode?.length ?? 2) - 1;
        break;
      }
      case ".":
        add(2);
        break;
      case "|":
      case "*":
      case "+":
      case "?":
        add(1);
        break;
      case "{": {
        const [whole = "", min = "", max = ""] = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(at, at + 12)) ?? [];
        if (whole === "") add(perLetter);
        else {
          const times = Math.max(Number(min), Number(max));
          const repeated = last;
          add(repeated * Math.max(0, times - 1) + times);
          last += repeated;
          at += whole.length - 1;
        }
        break;
      }
      default:
        add(perLetter);
    }
  }
  return open.reduce((sum, size) => sum + size, 0);
}

/** `\pL`: as many ranges as its bytes have. */
const sizeOfUnicodeClass = 12;

/** Where a class ends whose `[` stands at a place. */
function classEnd(pattern: string, start: number): number {
  // A bracket that comes first stands for itself.
  let at = pattern[start + 1] === "^" ? start + 2 : start + 1;
  if (pattern[at] === "]") at += 1;
  while (at < pattern.length && pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1;
  return at;
}

/** A class is at most as many ranges as it names. */
function classSize(text: string): number {
  const unicode = text.match(/\\[pP]/g)?.length ?? 0;
  const ranges = text
    .replaceAll(/\\[pP](?:\{[^}\\]*\}|.)/g, "")
    .replaceAll(/\\./g, "a")
    .replaceAll(/.-./g, "a").length;
  return 1 + ranges + unicode * sizeOfUnicodeClass;
}
