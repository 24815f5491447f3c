import { objectsOfShards } from "../../compile/explain/root-objects.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { apiPaths } from "../../front/api/paths.ts";
import { parseNodeId } from "../../snapshot/classifier.ts";
import { type ResourceType, resourceTypes, type ShapeName } from "../../snapshot/resource-type.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import { askFront } from "../snapshots/ask-front.ts";
import {
  type ResourceRead,
  type ResourcesRead,
  readAnswer,
  resourceRead,
  resourcesRead,
  resourceText,
} from "../snapshots/front-answers.ts";
import type { NodeSource } from "./proxy-resources.ts";

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
  const whose = { node, shape, ...(root === "SERVED" ? {} : { root }) };
  const resources: StoredResource[] = [];
  const versions = new Map<string, string>();
  for (const type of types) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const query = { ...whose, type, after, texts: "true", limit: "200" };
      const page: ResourcesRead = readAnswer(
        server,
        await ask(withQuery(apiPaths.resources.path, query)),
        resourcesRead,
      );
      versions.set(page.root, page.class);
      for (const { name, version, from, text } of page.resources) {
        const whole = text ?? (await longText(server, ask, { ...whose, root: page.root, type, name }));
        readAnswer(server, whole, resourceText);
        resources.push({ type, name, version, from, text: whole });
      }
      after = page.next;
    }
  }
  const [[hash, classId] = ["", ""], other] = versions;
  if (other !== undefined) throw new PortolanError(`HEAD moved on while ${server} was read: ask again`);
  const name = parseNodeId(node)?.name ?? node;
  return {
    title: `class ${classId}, root ${hash.slice(0, 12)}, as ${server} serves it`,
    resources,
    objects: objectsOfShards([]),
    namespace: name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "",
  };
}

type Query = Readonly<Record<string, string>>;

const withQuery = (path: string, query: Query): string => `${path}?${new URLSearchParams(query)}`;

/** A text that is too long for a list, read part by part. */
async function longText(server: string, ask: (path: string) => Promise<string>, query: Query): Promise<string> {
  let text = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const path = withQuery(apiPaths.resource.path, { ...query, offset: String(offset) });
    const part: ResourceRead = readAnswer(server, await ask(path), resourceRead);
    text += part.text;
    offset = part.next;
  }
  return text;
}
