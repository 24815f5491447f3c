import { fromJsonString, toBinary } from "@bufbuild/protobuf";
import { ClusterDiscoveryService } from "../../../gen/envoy/service/cluster/v3/cds_pb.ts";
import { DiscoveryRequestSchema } from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { Deployment, PolledNode } from "./deployment.ts";
import { type Answered, exchange, shownText } from "./exchange.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";
import { noNode } from "./poll-checks.ts";
import { authorizationOf, polledIn, pollFields, pollRemedy, refusalIn } from "./polls.ts";

export const callNames = ["connect", "grpc-web"] as const;

const { typeName, method } = ClusterDiscoveryService;
const path = `/${typeName}/${method.fetchClusters.name}`;
const maxBytes = 128 * 1024 * 1024;

/** Calls Envoy's FetchClusters over Connect and over gRPC-Web, where the front serves them. */
export async function callChecks(deployment: Deployment): Promise<readonly Finding[]> {
  const { node } = deployment;
  if (node === undefined) return callNames.map((name) => skipped(name, noNode));
  const fields = pollFields({ type: "clusters", node });
  const connect = await callFinding(deployment, "connect", "application/json", JSON.stringify(fields), (answer) =>
    polledIn("clusters", answer.bytes) === undefined ? "the response is not a DiscoveryResponse" : undefined,
  );
  const message = framed(node);
  if (message === undefined)
    return [connect, skipped("grpc-web", "the node's metadata cannot be encoded as a protobuf Struct")];
  return [connect, await callFinding(deployment, "grpc-web", "application/grpc-web+proto", message, grpcTrouble)];
}

async function callFinding(
  deployment: Deployment,
  name: (typeof callNames)[number],
  contentType: string,
  body: string | Uint8Array,
  troubleOf: (answer: Answered) => string | undefined,
): Promise<Finding> {
  const { token } = deployment;
  const headers = { "content-type": contentType, ...authorizationOf(token) };
  const answer = await exchange(deployment, { method: "POST", path, headers, body, maxBytes });
  if (answer.kind === "failed")
    return failed(name, answer.reason, "check the proxies and load balancers between here and the front");
  if (answer.status === 404 && refusalIn(answer.bytes).startsWith("there is no POST"))
    return skipped(name, "this front serves REST alone (docs/deploy-cloudflare.md has how to serve it)");
  if (answer.status !== 200)
    return failed(name, `answers ${answer.status}: ${refusalIn(answer.bytes)}`, pollRemedy(answer.status, token));
  const trouble = troubleOf(answer);
  if (trouble === undefined) return passed(name, "FetchClusters is answered");
  if (trouble.includes("no binary forms"))
    return warned(
      name,
      trouble,
      "set BINARY_FORMS (PORTOLAN_BINARY_FORMS) of the compile function to true, and compile",
    );
  return failed(name, trouble, "check that proxies before the front pass this content type unchanged");
}

/** Flags and length before each message. */
const headBytes = 5;
const trailerFlag = 0x80;

function framed(node: PolledNode): Uint8Array | undefined {
  try {
    const json = JSON.stringify(pollFields({ type: "clusters", node }));
    const message = toBinary(DiscoveryRequestSchema, fromJsonString(DiscoveryRequestSchema, json));
    const frame = Buffer.alloc(headBytes + message.length);
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, headBytes);
    return frame;
  } catch {
    return undefined;
  }
}

/** What a gRPC-Web answer says of itself in its trailers. @returns undefined for status 0 */
function grpcTrouble({ bytes, headers }: Answered): string | undefined {
  const trailers = trailersIn(bytes);
  const status = /^grpc-status: *(\d+)/im.exec(trailers)?.[1] ?? headers["grpc-status"];
  if (status === "0") return undefined;
  if (status === undefined) return "the response is not gRPC-Web: it has no grpc-status";
  const said = /^grpc-message: *(.*)$/im.exec(trailers)?.[1] ?? String(headers["grpc-message"] ?? "");
  return `grpc-status ${shownText(String(status))}: ${shownText(unescaped(said))}`;
}

/** Messages of gRPC are percent-encoded. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function trailersIn(bytes: Buffer): string {
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const end = at + headBytes + bytes.readUInt32BE(at + 1);
    if (((bytes[at] ?? 0) & trailerFlag) !== 0) return bytes.toString("utf8", at + headBytes, end);
    at = end;
  }
  return "";
}
