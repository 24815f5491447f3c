import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { causeText } from "../../base/cause-text.ts";
import { isRecord, textOf } from "../../base/classifier.ts";
import { agentCluster, controlPlaneCluster, restSource } from "../bootstrap.ts";
import { type FolderBound, keepWithin, noteUse } from "../files/bounded-folder.ts";
import { leafPath } from "../files/leaf-path.ts";
import { replaceFile } from "../files/replace-file.ts";
import type { FrontClient } from "../source/front-client.ts";

/** Where an Envoy with an agent asks for configurations of extensions: REST, over the agent's socket. */
export const extensionSource = restSource(undefined, agentCluster);

export const extensionPath = "/v3/discovery:extension_configs";

/** Answers that are kept, for an Envoy that starts while the server is away. */
const bound: FolderBound = { maxBytes: 16 * 1024 * 1024, maxFiles: 256 };

/** How long an Envoy that has nothing waits for the server before it gets what was kept: it waits for 5 s itself. */
const patienceMs = 2_000;

/** What an Envoy is answered. */
export interface PollReply {
  readonly status: number;
  readonly body: string;
}

/**
 * Answers an Envoy's polls for configurations of extensions from the agent's server, as that answers. An Envoy that has nothing gets the
 * last good answer where the server has none.
 *
 * @param folder of the agent
 * @param body a DiscoveryRequest in JSON
 * @param holdMs how long the server may hold it
 */
export async function answerExtensions(
  { client, folder }: { readonly client: FrontClient; readonly folder: string },
  { body, holdMs, signal }: { readonly body: string; readonly holdMs: number; readonly signal: AbortSignal },
): Promise<PollReply> {
  const { names, hasVersion } = readPoll(body);
  const file = join(folder, leafPath("ecds", names));
  const kept = hasVersion ? undefined : await readFile(file, "utf8").catch(() => undefined);
  const patience = kept === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const reply = await client
    .ask({ path: extensionPath, body, holdMs, signal: patience })
    .catch((cause: unknown): PollReply => ({ status: 503, body: causeText(cause) }));
  if (reply.status === 304) return { status: 304, body: "" };
  if (reply.status !== 200) return kept === undefined ? { status: reply.status, body: reply.body } : ok(kept);
  const own = withAgentCluster(reply.body);
  await keep(file, own);
  return ok(own);
}

const ok = (body: string): PollReply => ({ status: 200, body });

/** What is kept of answers costs none of them: a disk may be full. */
async function keep(file: string, text: string): Promise<void> {
  try {
    if ((await readFile(file, "utf8").catch(() => undefined)) === text) return await noteUse(file);
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, text, 0o600);
    await keepWithin(dirname(file), bound);
  } catch {
    // The next answer is kept again.
  }
}

/** What a poll asks for, as one text, and whether it has an answer already. */
function readPoll(body: string): { readonly names: string; readonly hasVersion: boolean } {
  const json: unknown = JSON.parse(body);
  const { resource_names: snake, resourceNames: names = snake, version_info, versionInfo } = isRecord(json) ? json : {};
  const asked = Array.isArray(names) ? names.map(textOf).sort() : [];
  return { names: asked.join(), hasVersion: textOf(versionInfo ?? version_info) !== "" };
}

const modulesUrl = `http://${controlPlaneCluster}/v3/wasm/`;

/** The same answer with code from the agent, where it would come from the server. */
function withAgentCluster(text: string): string {
  if (!text.includes(modulesUrl)) return text;
  const changed = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(changed);
    if (!isRecord(value)) return value;
    const isModule = value.cluster === controlPlaneCluster && textOf(value.uri).startsWith(modulesUrl);
    const members = Object.entries(value).map(([key, member]) => [key, changed(member)]);
    return { ...Object.fromEntries(members), ...(isModule ? { cluster: agentCluster } : {}) };
  };
  return JSON.stringify(changed(JSON.parse(text)));
}
