export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A request in proto JSON, as far as it was read. */
export interface JsonRequest {
  readonly json: JsonRecord;
  /** Length of the text that it was read from. */
  readonly bytes: number;
}

/**
 * Parses a discovery request. The list of extensions that Envoy sends with every poll, 60 to 77 KB that nobody reads, is left
 * out where it stands as Envoy writes it; any other text is parsed whole. Either way it is read from its own bytes alone.
 */
export function parseRequest(body: string, maxDepth: number): JsonRequest | { readonly problem: string } {
  return withoutExtensions(body, maxDepth) ?? parseWhole(body, maxDepth);
}

const listStart = ',"extensions":[';
const memberAfterObject = '},"';

/**
 * Cuts from the key, if it is a member of an object in the request, to the end of that object. Where an object is followed by a
 * member for the first time behind the key, and a list ended before it, that is the end: the entries of the list are followed
 * by each other.
 */
function withoutExtensions(body: string, maxDepth: number): JsonRequest | undefined {
  const from = body.indexOf(listStart);
  if (from === -1 || depthAt(body, from, maxDepth) !== 2) return undefined;
  const to = body.indexOf(memberAfterObject, from);
  if (to === -1 || body[to - 1] !== "]") return undefined;
  const parsed = parseWhole(body.slice(0, from) + body.slice(to), maxDepth);
  if ("problem" in parsed) return undefined;
  const { node } = parsed.json;
  const missing = read.filter((key) => !isRecord(node) || node[key] === undefined);
  // Writers with another order of fields may have what is missing in the part that was left out.
  return missing.length === 0 || (isRecord(node) && endsWithItsList(body, from, to)) ? parsed : undefined;
}

/** What is read of a node. */
const read = ["id", "cluster", "metadata", "locality"];

/** Whether every list in a part of a text is the last member of an object, so that no member follows it there. */
function endsWithItsList(text: string, from: number, to: number): boolean {
  for (let at = text.indexOf("]", from); at !== -1 && at < to; at = text.indexOf("]", at + 1)) {
    if (text.charCodeAt(at + 1) !== closeObject) return false;
  }
  return true;
}

function parseWhole(text: string, maxDepth: number): JsonRequest | { readonly problem: string } {
  if (depthAt(text, text.length, maxDepth) === undefined)
    return { problem: `the body nests deeper than ${maxDepth} levels` };
  try {
    const json: unknown = JSON.parse(text);
    return isRecord(json) ? { json, bytes: text.length } : { problem: "the body is not an object" };
  } catch {
    return { problem: "the body is not JSON" };
  }
}

const [quote, backslash] = [0x22, 0x5c];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * How many lists and objects are open at a place of a JSON text. Brackets within texts do not count.
 *
 * @returns undefined when there were more than `maxDepth` on the way
 */
export function depthAt(json: string, end: number, maxDepth: number): number | undefined {
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const char = json.charCodeAt(at);
    if (char === openObject || char === openList) {
      depth += 1;
      if (depth > maxDepth) return undefined;
    } else if (char === closeObject || char === closeList) depth -= 1;
    else if (char === quote) at = endOfText(json, at);
  }
  return depth;
}

/** Where the text that starts at a quote ends: at its other quote, or with everything. */
function endOfText(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    const char = json.charCodeAt(at);
    if (char === quote) return at;
    if (char === backslash) at += 1;
  }
  return json.length;
}
