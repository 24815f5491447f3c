import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedRoot, LoadedTree } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { resourceTypes, shapes } from "../../snapshot/resource-type.ts";
import type { ProxyClass } from "../../snapshot/root.ts";
import { shown } from "../excess.ts";
import { type Answered, type Asked, found, matcher, pageOf, refused } from "./asked.ts";
import { type Browser, browsed } from "./browsed.ts";
import type { Members, MembersOfRoots } from "./class-members.ts";
import type { Classes, OneClass } from "./schema/answers.ts";

const maxFirst = 5;
const maxDefaults = 20;

/** Classes with what they have and who is of them; searched by id, node, or what they are the default of. */
export async function answerClasses(
  browser: Browser,
  membersOf: MembersOfRoots,
  asked: Asked,
): Promise<Answered<Classes>> {
  const version = await browsed(browser, asked);
  if (version.kind === "refused") return version;
  const { byClass, isPartial } = await membersOf.get(version.value);
  const isMeant = matcher(asked.value("q"));
  const all = [...version.value.classes.values()].filter(({ id }) => {
    const { nodes = [], defaultOf = [] } = byClass.get(id) ?? {};
    return isMeant(id) || nodes.some(isMeant) || defaultOf.some(isMeant);
  });
  const { offset, limit } = pageOf(asked);
  const classes = await Promise.all(
    all.slice(offset, offset + limit).map(async (proxyClass) => ({
      id: proxyClass.id,
      ...membersTold(byClass.get(proxyClass.id)),
      counts: await countsOf(browser.reader, version.value, proxyClass),
    })),
  );
  return found({ root: version.value.hash, total: all.length, isPartial, classes });
}

/** One class: its nodes page by page, its secrets, and what it has of each type in each shape. */
export async function answerClass(
  browser: Browser,
  membersOf: MembersOfRoots,
  asked: Asked,
): Promise<Answered<OneClass>> {
  const version = await browsed(browser, asked);
  if (version.kind === "refused") return version;
  const loaded = version.value;
  const id = asked.value("id") ?? "";
  const proxyClass = loaded.classes.get(id);
  if (proxyClass === undefined) return noSuchClass(id);
  const { byClass, isPartial } = await membersOf.get(loaded);
  const members = byClass.get(id);
  const isMeant = matcher(asked.value("q"));
  const { offset, limit } = pageOf(asked);
  const trees: OneClass["trees"][number][] = [];
  for (const shape of shapes) {
    for (const type of resourceTypes) {
      if (proxyClass[shape][type] === undefined) continue;
      const tree = await browser.reader.tree(loaded.root, type, proxyClass[shape][type]);
      trees.push({ shape, type, version: wireVersion(tree.version), ...sizeOf(tree) });
    }
  }
  return found({
    root: loaded.hash,
    id,
    ...membersTold(members),
    isPartial,
    page: (members?.nodes ?? []).filter(isMeant).slice(offset, offset + limit),
    secrets: (proxyClass.secrets ?? []).slice(0, limit),
    trees,
  });
}

/** @param id "" where the query names none */
export const noSuchClass = (id: string): Answered<never> =>
  id === ""
    ? refused(400, "class is missing: /api/classes lists them")
    : refused(404, `this version has no class "${shown(id)}"`);

function membersTold({ nodes, defaultOf }: Members = { nodes: [], defaultOf: [] }) {
  return { nodes: nodes.length, first: nodes.slice(0, maxFirst), defaultOf: defaultOf.slice(0, maxDefaults) };
}

async function countsOf(reader: SnapshotReader, { root }: LoadedRoot, { stream }: ProxyClass) {
  const counts = await Promise.all(
    resourceTypes.map(async (type) => [type, sizeOf(await reader.tree(root, type, stream[type])).resources] as const),
  );
  return Object.fromEntries(counts.filter(([type]) => stream[type] !== undefined));
}

/** Resources, and bytes of their texts. */
const sizeOf = ({ segments }: LoadedTree) => ({
  resources: segments.reduce((sum, segment) => sum + segment.resources, 0),
  bytes: segments.reduce((sum, segment) => sum + segment.bodyBytes, 0),
});
