import { fieldsOf, textOf } from "../../base/untyped.ts";
import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";
import { counted } from "../numbers.ts";
import type { Deployment } from "./deployment.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";
import { type Poll, type Polled, polledIn, pollRemedy, refusalIn, sendPoll } from "./polls.ts";

const checkOf = (type: CoreType): string => `poll ${type}`;
const unchangedCheck = "poll unchanged";
export const pollNames: readonly string[] = [...coreTypes.map(checkOf), unchangedCheck];

/** Polls each type as the node does, and then again with the version that it has got. */
export async function pollChecks(deployment: Deployment): Promise<readonly Finding[]> {
  const { node } = deployment;
  if (node === undefined) return pollNames.map((name) => skipped(name, noNode));
  const found: Finding[] = [];
  const held: (readonly [Poll, Polled])[] = [];
  for (const type of coreTypes) {
    const named = namedBy[type];
    const from = named && held.find(([poll]) => poll.type === named.from)?.[1];
    const names = named && from && named.names(from.resources);
    if (named !== undefined && (names === undefined || names.length === 0)) {
      found.push(skipped(checkOf(type), from === undefined ? `needs ${checkOf(named.from)} to pass` : named.none));
      continue;
    }
    const poll: Poll = { type, node, ...(names === undefined ? {} : { names: names.slice(0, 1) }) };
    const { finding, polled } = await pollOnce(deployment, poll);
    found.push(finding);
    if (polled !== undefined) held.push([poll, polled]);
  }
  return [...found, await unchangedFinding(deployment, held)];
}

export const noNode = "neither --node nor --bootstrap names a node to poll as";

/** What a node asks for by name, and in which of the resources that it has it finds the names. */
interface Named {
  readonly from: CoreType;
  readonly names: (resources: readonly unknown[]) => readonly string[];
  /** Why there may be none. */
  readonly none: string;
}

async function pollOnce(
  deployment: Deployment,
  poll: Poll,
): Promise<{ readonly finding: Finding; readonly polled?: Polled }> {
  const check = checkOf(poll.type);
  const answer = await sendPoll(deployment, poll, deployment.token);
  if (answer.kind === "failed")
    return {
      finding: failed(
        check,
        answer.reason,
        "check the proxies and load balancers between here and the front, and raise --timeout",
      ),
    };
  const { status, bytes } = answer;
  if (status !== 200) {
    const text = `answers ${status}: ${refusalIn(bytes)}`;
    return { finding: failed(check, text, pollRemedy(status, deployment.token)) };
  }
  const polled = polledIn(poll.type, bytes);
  if (polled === undefined) {
    const remedy = "check the proxies and load balancers between here and the front: one of them changes the response";
    return { finding: failed(check, "the response is not a DiscoveryResponse of this type", remedy) };
  }
  const text = `${counted(polled.resources.length, "resource")}, ${counted(polled.bytes, "byte")}`;
  return { finding: contentFinding(poll, polled, text), polled };
}

function contentFinding({ type, names }: Poll, { resources }: Polled, text: string): Finding {
  const check = checkOf(type);
  if (names !== undefined) return passed(check, `${text}, for ${names.join(", ")}`);
  if (resources.length > 0) return passed(check, text);
  const remedy = "check that the node's namespace and labels are those of a workload that was published";
  return warned(check, `${text}: this node is served nothing`, remedy);
}

/** The names by which clusters ask for their endpoints. */
const endpointsIn = (clusters: readonly unknown[]): readonly string[] =>
  clusters.map(fieldsOf).flatMap(({ name, type, edsClusterConfig }) => {
    if (type !== "EDS") return [];
    return [textOf(fieldsOf(edsClusterConfig).serviceName) || textOf(name)];
  });

/** The route tables that listeners ask for. An answer may nest to any depth, so nothing recurses. */
function tablesIn(listeners: readonly unknown[]): readonly string[] {
  const found = new Set<string>();
  const left: unknown[] = [...listeners];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== "object" || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      const isName = /^route_?config_?name$/i.test(name) && typeof member === "string";
      if (isName) found.add(member);
      else left.push(member);
    }
  }
  return [...found];
}

const namedBy: Readonly<Partial<Record<CoreType, Named>>> = {
  endpoints: { from: "clusters", names: endpointsIn, none: "the endpoints are inline in this node's clusters" },
  routes: { from: "listeners", names: tablesIn, none: "no listener of this node names a route table" },
};

/** A node that has everything is to be told so with 304 and no body. */
async function unchangedFinding(deployment: Deployment, held: readonly (readonly [Poll, Polled])[]): Promise<Finding> {
  if (held.length === 0) return skipped(unchangedCheck, "no poll got a response");
  const token = deployment.token;
  for (const [poll, { version }] of held) {
    const answer = await sendPoll(deployment, { ...poll, version }, token);
    const between =
      "check the proxies and load balancers between here and the front: they must pass bodies and 304 unchanged";
    if (answer.kind === "failed") return failed(unchangedCheck, `${poll.type}: ${answer.reason}`, between);
    if (answer.status === 304) continue;
    const next = answer.status === 200 ? polledIn(poll.type, answer.bytes)?.version : undefined;
    if (next !== undefined && next !== version)
      return warned(
        unchangedCheck,
        `${poll.type} changed between two polls`,
        "run this again when nothing is published",
      );
    const text = `${poll.type} of the version that the node has get ${answer.status} in place of 304`;
    return failed(unchangedCheck, text, between);
  }
  return passed(unchangedCheck, `${held.map(([{ type }]) => type).join(", ")}: 304`);
}
