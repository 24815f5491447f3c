/** A v1 node: `type~ip~id~domain`. @see docs/how-istio-does-it/legacy-v1.md#names */
export interface NodeId {
  readonly type: "sidecar" | "ingress" | "router";
  /** Checked for sidecars only. */
  readonly ip: string;
  /** The address as Mixer takes it: base64 of its 16 bytes, IPv4 in its mapped form; "" for a text that is no address. */
  readonly ipBytes: string;
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
  const bytes = addressBytes(ip);
  if (type === "sidecar" && bytes === undefined) {
    return { error: `invalid IP address ${quoted(ip)} in the service node ${quoted(node)}` };
  }
  const ipBytes = bytes === undefined ? "" : btoa(String.fromCharCode(...bytes));
  return { type, ip, ipBytes, id, domain };
}

const quoted = (text: string): string => JSON.stringify(text);

/** The 16 bytes of an address; undefined for any other text. */
function addressBytes(text: string): readonly number[] | undefined {
  const v4 = v4Bytes(text);
  if (v4 !== undefined) return [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...v4];
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(":") || !URL.canParse(`http://[${text}]/`)) return undefined;
  // The URL parser has checked the address and written it in its one canonical form.
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const groups = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));
  const first = groups(head);
  const last = groups(tail ?? "");
  const filling = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...filling, ...last].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function v4Bytes(text: string): readonly number[] | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const parts = text.split(".").map(Number);
  return parts.every((part) => part <= 255) ? parts : undefined;
}
