import { readFile } from "node:fs/promises";
import { fileTrouble } from "../base/cause-text.ts";
import { isRecord, type JsonRecord, textOf } from "../base/classifier.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { agentCluster, agentResources, clusterOfAgent, streamSource } from "./bootstrap.ts";
import { localCluster, localClusterFrom } from "./local-cluster.ts";
import { recordOf } from "./record-of.ts";
import type { AgentNode } from "./source/node.ts";

/** A bootstrap as the agent uses it. */
export interface AgentBootstrap {
  readonly node: AgentNode;
  /** With everything from the agent's socket, wherever it came from before. */
  readonly text: string;
  readonly isGateway: boolean;
}

/**
 * Reads a bootstrap in JSON, of whatever transport.
 *
 * @param socket of the agent
 * @throws PortolanError when it cannot be read, or says of no node
 */
export async function readBootstrap(file: string, socket: string): Promise<AgentBootstrap> {
  const json = await readJson(file);
  const { node } = json;
  if (!isRecord(node) || typeof node.id !== "string" || node.id === "")
    throw new PortolanError(
      `${file} is no bootstrap with a node; \`portolan bootstrap POD.NAMESPACE --json\` writes one`,
    );
  const { dynamic_resources: _snake, dynamicResources: _camel, static_resources, staticResources, ...rest } = json;
  const fixed = recordOf(staticResources ?? static_resources);
  const others = (Array.isArray(fixed.clusters) ? fixed.clusters : [])
    .filter((one) => recordOf(one).name !== agentCluster)
    .map((one) => (recordOf(one).name === localCluster ? localClusterFrom(streamSource) : one));
  const own = { ...fixed, clusters: [...others, clusterOfAgent(socket)] };
  const { id, cluster, metadata, locality } = node;
  return {
    node: {
      id,
      cluster: textOf(cluster),
      metadata: recordOf(metadata),
      ...(isRecord(locality) ? { locality: localityOf(locality) } : {}),
    },
    text: `${JSON.stringify({ ...rest, staticResources: own, dynamicResources: agentResources }, undefined, 2)}\n`,
    isGateway: id.startsWith("router~"),
  };
}

async function readJson(file: string): Promise<JsonRecord> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new PortolanError(
      `cannot read the bootstrap ${file}: ${fileTrouble(cause)}; \`portolan bootstrap POD.NAMESPACE --json > ${file}\` writes one`,
      [],
      cause,
    );
  }
  try {
    const json: unknown = JSON.parse(text);
    if (isRecord(json)) return json;
  } catch {
    // Said below.
  }
  throw new PortolanError(`${file} is no JSON object: \`portolan bootstrap\` writes JSON with --json`);
}

function localityOf(json: JsonRecord): NonNullable<AgentNode["locality"]> {
  return { region: textOf(json.region), zone: textOf(json.zone), subZone: textOf(json.subZone ?? json.sub_zone) };
}
