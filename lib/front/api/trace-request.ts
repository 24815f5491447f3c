import { parseNodeId } from "../../base/classifier.ts";
import { namespaceOfName } from "../../snapshot/nodes/node-names.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ResourceType, ShapeName } from "../../snapshot/resource-type.ts";
import { wholeText } from "../../snapshot/whole-text.ts";
import { findResource } from "../../streams/select-resources.ts";
import type { ResourceTexts } from "../../trace/node-resources.ts";
import type { FindCauses, PassedResource } from "../tracing/causes.ts";
import { fromAt, headersIn, type TracedAnswer, traceAnswer } from "../tracing/trace-answer.ts";
import type { LoadTracer } from "../tracing/tracer.ts";
import { type Answered, type Asked, found, noSuchShape, refused, shapeOf } from "./asked.ts";
import { askedProxy } from "./asked-proxy.ts";
import type { Browser } from "./browsed.ts";
import type { Traced } from "./schema/trace.ts";

/** Text of a class's resources that is read for one trace. */
const maxTextBytes = 32 * 1024 * 1024;
const maxFrom = 20;

/** What a front follows requests with. */
interface Following {
  readonly loadTracer: LoadTracer | undefined;
  readonly findCauses: FindCauses | undefined;
}

/** The way of a request through a node, decision by decision, with the objects behind each. */
export async function answerTrace(
  browser: Browser,
  { loadTracer: load, findCauses }: Following,
  asked: Asked,
): Promise<Answered<Traced>> {
  if (load === undefined)
    return refused(
      404,
      "this front follows no requests; `portolan trace NODE URL --server THIS` reads from it what it serves, and does",
    );
  const shape = shapeOf(asked);
  if (shape === undefined) return noSuchShape();
  if ((asked.value("node") ?? "") === "") return refused(400, "node is missing: a proxy's name, or a class");
  const proxy = await askedProxy(browser, asked);
  if (proxy.kind === "refused") return proxy;
  const { loaded, id: classId } = proxy.value;
  const texts = await textsOf(browser.reader, loaded, classId, shape);
  if (texts === undefined)
    return refused(400, "the class has more than this front follows requests in; `portolan trace` does");
  const { trace } = await load();
  const answer = trace(texts, {
    url: asked.value("url") ?? "",
    method: asked.value("method") || "GET",
    headers: headersIn(asked.value("headers") ?? ""),
    direction: asked.value("direction"),
    isMutual: asked.value("mutual") === "true",
    from: asked.value("from") ?? "",
    principal: asked.value("principal") ?? "",
    claims: asked.value("claims") ?? "",
  });
  if (answer.kind === "refused") return refused(400, answer.reason);
  const whose = { classId, shape, answer, namespace: namespaceOf(asked.value("node") ?? "") };
  return found({
    root: loaded.hash,
    class: classId,
    ...(await tracedAnswer(browser.reader, loaded, whose, findCauses)),
  });
}

const types = ["listeners", "routes", "clusters", "endpoints", "name_tables"] as const;

/** @returns undefined where it is too much */
async function textsOf(
  reader: SnapshotReader,
  { root, classes }: LoadedRoot,
  classId: string,
  shape: ShapeName,
): Promise<ResourceTexts | undefined> {
  let left = maxTextBytes;
  const texts = new Map<ResourceType, readonly string[]>();
  for (const type of types) {
    const tree = await reader.tree(root, type, classes.get(classId)?.[shape][type]);
    left -= tree.segments.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
    if (left < 0) return undefined;
    const found: string[] = [];
    for (const segment of tree.segments) {
      for (const name of (await reader.entries(segment)).keys())
        found.push(await wholeText(reader.texts(segment, name)));
    }
    texts.set(type, found);
  }
  const of = (type: ResourceType) => texts.get(type) ?? [];
  return {
    listeners: of("listeners"),
    routes: of("routes"),
    clusters: of("clusters"),
    endpoints: of("endpoints"),
    nameTables: of("name_tables"),
  };
}

interface Answering {
  readonly classId: string;
  readonly shape: ShapeName;
  /** Of the node; "" where it is not known. */
  readonly namespace: string;
  readonly answer: TracedAnswer;
}

/** Of `pod.namespace`, or a node id. */
function namespaceOf(node: string): string {
  return namespaceOfName(parseNodeId(node)?.name ?? node);
}

async function tracedAnswer(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  { classId, shape, namespace, answer }: Answering,
  findCauses: FindCauses | undefined,
) {
  const { trace } = answer;
  const all = [...trace.decisions, ...trace.ways.flatMap(({ decisions }) => decisions)];
  const passed = new Map<string, PassedResource>();
  for (const { place } of all) {
    if (place === undefined || passed.has(keyOf(place))) continue;
    const resource = await passedResource(reader, loaded, { classId, shape, ...place }, findCauses !== undefined);
    if (resource !== undefined) passed.set(keyOf(place), resource);
  }
  const causesOf = await findCauses?.(loaded.root.sources, [...passed.values()], namespace);
  return traceAnswer(answer, (place) => ({
    from: fromAt(place, passed.get(keyOf(place))?.from ?? []).slice(0, maxFrom),
    causes: (causesOf?.(place) ?? []).slice(0, maxFrom),
  }));
}

const keyOf = ({ type, name }: Pick<PassedResource, "type" | "name">): string => `${type}/${name}`;

interface Wanted {
  readonly classId: string;
  readonly shape: ShapeName;
  readonly type: ResourceType;
  readonly name: string;
}

/** @param isRead whether its text is wanted */
async function passedResource(
  reader: SnapshotReader,
  { root, classes }: LoadedRoot,
  { classId, shape, type, name }: Wanted,
  isRead: boolean,
): Promise<PassedResource | undefined> {
  const tree = await reader.tree(root, type, classes.get(classId)?.[shape][type]);
  const [one] = await findResource(reader, tree, name);
  const entry = one && (await reader.entries(one.segment)).get(name);
  if (one === undefined || entry === undefined) return undefined;
  const text = isRead && type === "routes" ? await wholeText(reader.texts(one.segment, name)) : "";
  return { type, name, version: entry.version, from: entry.from, text };
}
