import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedRoot, LoadedTree } from "../../snapshot/reader/loaded.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { ResourceEntry } from "../../snapshot/root.ts";
import { wholeText } from "../../snapshot/whole-text.ts";
import { findResource } from "../../streams/select-resources.ts";
import { shown } from "../excess.ts";
import {
  type Answered,
  type Asked,
  found,
  matcher,
  noSuchShape,
  pageOf,
  refused,
  shapeOf,
  wholeNumber,
} from "./asked.ts";
import { askedProxy } from "./asked-proxy.ts";
import type { Browser } from "./browsed.ts";
import { noSuchClass } from "./classes.ts";
import type { Resource, Resources } from "./schema/answers.ts";

const maxFrom = 20;
const maxAllFrom = 1_000;

/** Resources that are looked at for one page; whoever searches on asks again. */
const maxLooked = 20_000;

/** About so much of a resource's text is in one answer. */
const textBytes = 256 * 1024;

interface Tree {
  readonly loaded: LoadedRoot;
  readonly tree: LoadedTree;
  readonly about: {
    readonly root: string;
    readonly class: string;
    readonly shape: ShapeName;
    readonly type: ResourceType;
  };
}

/** Resources of a class, by name; found by part of a name, or by an object that they were made from. */
export async function answerResources(browser: Browser, asked: Asked): Promise<Answered<Resources>> {
  const of = await treeOf(browser, asked);
  if (of.kind === "refused") return of;
  const { tree, about } = of.value;
  const isMeant = matcher(asked.value("q"));
  const isFrom = matcher(asked.value("from"));
  const after = asked.value("after") ?? "";
  const { limit } = pageOf(asked);
  const resources: Resources["resources"][number][] = [];
  const isWithTexts = asked.value("texts") === "true";
  let textLeft = textBytes;
  let looked = 0;
  let before: string | undefined;
  let next: string | undefined;
  for (const segment of tree.segments) {
    if (segment.last <= after && after !== "") continue;
    if (next !== undefined) break;
    for (const entry of (await browser.reader.entries(segment)).values()) {
      if (after !== "" && entry.name <= after) continue;
      looked += 1;
      if (isMeant(entry.name) && (entry.from.some(isFrom) || (asked.value("from") ?? "") === "")) {
        const isRead = isWithTexts && entry.bytes <= textBytes;
        // What does not fit in any more begins the next page.
        if (isRead && entry.bytes > textLeft) {
          next = before;
          break;
        }
        const text = isRead ? { text: await wholeText(browser.reader.texts(segment, entry.name)) } : {};
        if (isRead) textLeft -= entry.bytes;
        resources.push({ ...headOf(entry, maxFrom), ...text });
      }
      before = entry.name;
      if (resources.length < limit && looked < maxLooked) continue;
      next = entry.name;
      break;
    }
  }
  const total = tree.segments.reduce((sum, segment) => sum + segment.resources, 0);
  const last = tree.segments.at(-1)?.last;
  return found({
    ...about,
    version: wireVersion(tree.version),
    total,
    resources,
    ...(next === undefined || next === last ? {} : { next }),
  });
}

/** One resource: its text, or as much of it as an answer may have, and all that it was made from. */
export async function answerResource(browser: Browser, asked: Asked): Promise<Answered<Resource>> {
  const of = await treeOf(browser, asked);
  if (of.kind === "refused") return of;
  const { tree, about } = of.value;
  const name = asked.value("name") ?? "";
  const [{ segment } = { segment: undefined }] = await findResource(browser.reader, tree, name);
  const entry = segment && (await browser.reader.entries(segment)).get(name);
  if (segment === undefined || entry === undefined)
    return refused(404, `class ${about.class} has no resource "${shown(name)}" among its ${about.type}`);
  const offset = wholeNumber(asked.value("offset")) ?? 0;
  const { text, next } = await textFrom(browser.reader.texts(segment, name), offset);
  return found({ ...about, ...headOf(entry, maxAllFrom), offset, text, ...(next === undefined ? {} : { next }) });
}

async function treeOf(browser: Browser, asked: Asked): Promise<Answered<Tree>> {
  const whose = await askedProxy(browser, asked);
  if (whose.kind === "refused") return whose;
  const { loaded, id } = whose.value;
  const proxyClass = loaded.classes.get(id);
  if (proxyClass === undefined) return noSuchClass(id);
  const type = resourceTypes.find((known) => known === (asked.value("type") || "clusters"));
  const shape = shapeOf(asked, "poll");
  if (type === undefined) return refused(400, `type is one of ${resourceTypes.join(", ")}`);
  if (shape === undefined) return noSuchShape();
  const tree = await browser.reader.tree(loaded.root, type, proxyClass[shape][type]);
  return found({ loaded, tree, about: { root: loaded.hash, class: id, shape, type } });
}

function headOf({ name, version, bytes, from }: ResourceEntry, most: number): Resources["resources"][number] {
  return { name, version, bytes, from: from.slice(0, most), moreFrom: Math.max(from.length - most, 0) };
}

/** A part of a text that comes in pieces, cut between characters. */
async function textFrom(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  offset: number,
): Promise<{ readonly text: string; readonly next: number | undefined }> {
  const decoder = new TextDecoder();
  let text = "";
  let at = 0;
  for await (const piece of pieces) {
    const from = Math.max(offset - at, 0);
    const to = offset + textBytes - at;
    at += piece.length;
    if (from >= piece.length) continue;
    const end = to >= piece.length ? piece.length : characterStart(piece, to);
    text += decoder.decode(piece.subarray(from, end), { stream: true });
    if (end < piece.length) return { text, next: at - piece.length + end };
  }
  return { text, next: undefined };
}

/** The start of the character that a byte is part of. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
