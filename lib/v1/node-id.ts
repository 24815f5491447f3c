import { isIpAddress } from "../mesh/ip-address.ts";

/** A v1 node: `type~ip~id~domain`. @see v1-api 2 */
export interface NodeId {
  readonly type: "sidecar" | "ingress" | "router";
  /** Checked for sidecars only. */
  readonly ip: string;
  /** `pod.namespace` as a rule. */
  readonly id: string;
  /** DNS suffix for short names. */
  readonly domain: string;
}

/** Reads a node id, or says in the words of the release what is wrong with it. */
export function parseNodeId(node: string): NodeId | { readonly error: string } {
  const [type = "", ip = "", id = "", domain, ...more] = node.split("~");
  if (domain === undefined || more.length > 0) return { error: `missing parts in the service node ${quoted(node)}` };
  if (type !== "sidecar" && type !== "ingress" && type !== "router") {
    return { error: `invalid node type (valid types: ingress, sidecar, router in the service node ${quoted(node)}` };
  }
  if (type === "sidecar" && !isIpAddress(ip)) {
    return { error: `invalid IP address ${quoted(ip)} in the service node ${quoted(node)}` };
  }
  return { type, ip, id, domain };
}

const quoted = (text: string): string => JSON.stringify(text);
