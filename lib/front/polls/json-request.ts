import { isRecord, type JsonRecord } from "../../base/classifier.ts";
import { type ExtensionLists, noExtensionLists } from "./extension-lists.ts";

/** A request in proto JSON. */
export interface JsonRequest {
  /** With what its node's list of extensions holds, or with a shorter one that says as much to whoever reads it. */
  readonly json: JsonRecord;
  /** Length of its text, were that list empty. */
  readonly bytes: number;
}

/**
 * Parses a discovery request. A list of extensions that is known to be one, to the last character, is passed over, and a short one read in its
 * place: that is JSON if and only if the whole is, and says the same of whose build the node is.
 */
export function parseRequest(
  body: string,
  maxDepth: number,
  lists: ExtensionLists = noExtensionLists,
): JsonRequest | { readonly problem: string } {
  const key = body.indexOf(listKey);
  if (key === -1 || depthAt(body, key, maxDepth) !== depthOfMembers) return parseWhole(body, maxDepth);
  const from = key + listKey.length;
  const known = lists.listAt(body, from);
  if (known !== undefined) {
    const around = parseWhole(body.slice(0, from) + known.short + body.slice(from + known.length), maxDepth);
    return "problem" in around ? around : { ...around, bytes: around.bytes - known.short.length + emptyList.length };
  }
  const parsed = parseWhole(body, maxDepth);
  const end = "problem" in parsed ? undefined : endOfList(body, from);
  if ("problem" in parsed || end === undefined) return parsed;
  lists.keep(body.slice(from, end));
  return { json: parsed.json, bytes: from + emptyList.length + body.length - end };
}

const emptyList = "[]";

/**
 * Before its list. Where a text with this in it is JSON, it is a key: within a text its first quote would end that text, and no letter
 * follows the end of a text.
 */
export const listKey = ',"extensions":';
/** Members of the request's own members, the node among them; nobody reads a list of this name there. */
export const depthOfMembers = 2;

/** Where the list ends that starts at a place of a JSON text; undefined for any other value. */
function endOfList(json: string, from: number): number | undefined {
  if (json.charCodeAt(from) !== openList) return undefined;
  let depth = 0;
  for (let at = from; at < json.length; at += 1) {
    const char = json.charCodeAt(at);
    if (char === openObject || char === openList) depth += 1;
    else if (char === closeObject || char === closeList) depth -= 1;
    else if (char === quote) at = endOfText(json, at);
    if (depth === 0) return at + 1;
  }
  return undefined;
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
