import type { z } from "zod";
import { parseNodeId } from "../../base/classifier.ts";
import { objectsOfShards } from "../../compile/explain/root-objects.ts";
import { apiPaths } from "../../front/api/paths.ts";
import { type AskResources, servedResources } from "../../front/api/served-resources.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import { readResource } from "../../xds/descriptors.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import { askFront } from "../snapshots/ask-front.ts";
import { readAnswer, resourceRead, resourcesRead, resourceText } from "../snapshots/front-answers.ts";
import type { NodeSource, UnreadResource } from "./proxy-resources.ts";

/** What is asked of a front. */
export interface FrontQuestion {
  readonly server: string;
  readonly tokenFile?: string;
  /** As `rootNames` says; `SERVED` is what this front serves the node itself, in a canary and between steps, too. */
  readonly root: string;
  readonly shape: ShapeName;
  /** Those that are wanted; all by default. */
  readonly types?: readonly ResourceType[] | undefined;
}

/**
 * What a front serves a node, as its API tells it. Where the objects behind it stand, a front does not know.
 *
 * @param node `pod.namespace`, an address, a node id, or the id of a class
 * @throws PortolanError with what the front says, where there is no such node or nobody answers
 */
export async function frontSource(question: FrontQuestion, node: string): Promise<NodeSource> {
  const { server, tokenFile, root, shape, types = resourceTypes } = question;
  const ask = askFront(server, tokenFile);
  const asked = async <T>(path: string, query: Query, form: z.ZodType<T>) =>
    ({ kind: "answer", value: readAnswer(server, await ask(`${path}?${new URLSearchParams(query)}`), form) }) as const;
  const api: AskResources<never> = {
    page: (query) => asked(apiPaths.resources.path, query, resourcesRead),
    part: (query) => asked(apiPaths.resource.path, query, resourceRead),
  };
  const resources: StoredResource[] = [];
  const unread: UnreadResource[] = [];
  let [hash, ofClass] = ["", ""];
  for await (const { value } of servedResources(api, { node, shape, root: root === "SERVED" ? "" : root }, types)) {
    const { classId, type, name, version, from, text } = value;
    [hash, ofClass] = [value.root, classId];
    const read = readResource(type, readAnswer(server, text, resourceText));
    if ("error" in read) unread.push({ type, name, why: read.error });
    else resources.push({ type, name, version, from, text: JSON.stringify(read.json) });
  }
  const name = parseNodeId(node)?.name ?? node;
  return {
    title: `class ${ofClass}, root ${hash.slice(0, 12)}, as ${server} serves it`,
    resources,
    unread,
    objects: objectsOfShards([]),
    namespace: name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "",
  };
}

type Query = Readonly<Record<string, string>>;
