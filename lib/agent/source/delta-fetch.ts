import type { JsonRecord } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import { typeUrlOf } from "../../snapshot/resource-type.ts";
import type { TreeEncoder } from "../../snapshot/worlds/encode-tree.ts";
import { recordOf } from "../record-of.ts";
import type { FrontClient } from "./front-client.ts";
import type { AgentNode } from "./node.ts";
import { applyDelta, type Delta, type HeldType, type Holding } from "./resources.ts";

/** What is fetched, and by whom. */
export interface DeltaFetch {
  readonly type: HeldType;
  readonly node: AgentNode;
  /** What there is already. */
  readonly before: Holding | undefined;
  /** How long the front may hold the request while there is nothing new; 0: it answers at once. */
  readonly holdMs: number;
  /** What Envoy refuses of the version that there is, in its words. */
  readonly complaint?: Complaint | undefined;
  /** The version that Envoy has taken last, "" for none; absent for a reader that is no Envoy's. */
  readonly accepted?: string | undefined;
  readonly signal?: AbortSignal;
  readonly encodeTree: TreeEncoder;
}

/** What an Envoy said when it did not take something. */
export interface Complaint {
  /** Of the whole type, as it was when Envoy said so. */
  readonly version: string;
  readonly names: readonly string[];
  readonly words: string;
}

/** `DeltaFetch` of proto/portolan/v1/snapshot_service.proto, a unary call of Connect's. */
const path = "/portolan.v1.SnapshotService/DeltaFetch";

/**
 * Asks for what has changed by `DeltaFetch`, in JSON.
 *
 * @see docs/decisions/023-delta-fetch-in-json.md
 *
 * @returns what there is now, or undefined when nothing has changed
 * @throws PortolanError when there is no answer, one with an error, or one that does not come to what it says
 */
export async function fetchDelta(client: FrontClient, fetch: DeltaFetch): Promise<Holding | undefined> {
  const { type, before, holdMs, signal, encodeTree } = fetch;
  const ask = async (held: object) => {
    const body = JSON.stringify({ ...questionOf(fetch), ...held });
    return client.ask({ path, body, holdMs, ...(signal && { signal }) });
  };
  let reply = await ask(heldOf(before));
  if (before?.nonce !== undefined && isOfLongAgo(reply)) reply = await ask(listOf(before));
  if (reply.status === 200) return applyDelta(type, before, readDelta(type, reply.body), encodeTree);
  const { code, message } = readError(reply.body);
  if (code === "already_exists") return undefined;
  throw new PortolanError(`the front answers ${reply.status}: ${message}`);
}

/** @param complaint said of another version than there is now, it is nothing to say: Envoy has not seen this one yet */
function questionOf({ type, node, before, complaint, accepted }: DeltaFetch): object {
  const isOfThis = complaint !== undefined && complaint.version === before?.version;
  return {
    node,
    type_url: typeUrlOf(type),
    // A member of ours: the protocol's own say what the agent holds.
    ...(accepted === undefined ? {} : { accepted_version: accepted }),
    ...(isOfThis ? { error_detail: statusOf(complaint) } : {}),
  };
}

/** What there is already: by its front's own word for it, or resource by resource. */
function heldOf(before: Holding | undefined): object {
  if (before === undefined) return {};
  return before.nonce === undefined ? listOf(before) : { response_nonce: before.nonce };
}

function listOf({ version: whole, resources }: Holding): object {
  const known = [...resources.values()].map(({ name, version }) => [name, wireVersion(version)]);
  return { response_nonce: whole, initial_resource_versions: Object.fromEntries(known) };
}

/** Whether a front does not know any more what its nonce stood for. */
const isOfLongAgo = ({ status, body }: { readonly status: number; readonly body: string }): boolean =>
  status !== 200 && readError(body).code === "failed_precondition";

/** A google.rpc.Status: INTERNAL, as Envoy's own is. */
const statusOf = ({ words, names }: Complaint) => ({
  code: 13,
  message: words.slice(0, maxWords),
  details: names.slice(0, maxNames).map((name) => ({
    "@type": "type.googleapis.com/google.rpc.ResourceInfo",
    resourceName: name,
  })),
});

/** What a front remembers of it. */
const maxWords = 2_000;
const maxNames = 50;

/** @throws PortolanError for anything but a DeltaDiscoveryResponse in proto JSON */
function readDelta(type: HeldType, body: string): Delta {
  const answer = parse(body);
  const { system_version_info: version, nonce, resources = [], removed_resources: removed = [] } = answer;
  const changed = Array.isArray(resources) ? resources.map(readResource) : [undefined];
  if (
    typeof version !== "string" ||
    !changed.every((resource) => resource !== undefined) ||
    !Array.isArray(removed) ||
    !removed.every((name) => typeof name === "string")
  ) {
    throw new PortolanError(`an answer about ${type} is no delta: is this a front of Portolan?`);
  }
  return { version, nonce: typeof nonce === "string" ? nonce : undefined, changed, removed };
}

function readResource(value: unknown): Delta["changed"][number] | undefined {
  const { name, resource } = recordOf(value);
  // Written by JSON.stringify, as all compiled texts are: what is read and written again is the same.
  return typeof name === "string" && resource !== undefined ? { name, text: JSON.stringify(resource) } : undefined;
}

function parse(body: string): JsonRecord {
  try {
    return recordOf(JSON.parse(body));
  } catch (cause) {
    throw new PortolanError("an answer is no JSON, or not all of it came", [], cause);
  }
}

/** An error of Connect's, what a front says is wrong (RFC 9457), or the beginning of whatever it was that answered. */
function readError(body: string): { readonly code?: string; readonly message: string } {
  try {
    const { code, message, detail } = recordOf(JSON.parse(body));
    if (typeof code === "string") return { code, message: typeof message === "string" ? message : code };
    if (typeof detail === "string") return { message: detail };
  } catch {
    // Something else than a front has answered.
  }
  return { message: body.slice(0, 200).replace(/\s+/g, " ") };
}
