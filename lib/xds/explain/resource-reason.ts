import { extensionPrefix, parseClusterName } from "../names.ts";
import type { ResourceType } from "../resource.ts";

/** By which rule of the generators a resource is there, in words, from its name. */
export function reasonOf(type: ResourceType, name: string, from: readonly string[]): string {
  const reason = reasons[type](name);
  const patched = from.filter((key) => key.startsWith("EnvoyFilter/"));
  return patched.length === 0 ? reason : `${reason}; patched by ${patched.join(", ")}`;
}

const reasons: Readonly<Record<ResourceType, (name: string) => string>> = {
  clusters(name) {
    const parts = parseClusterName(name);
    if (parts === undefined) return "built in, or from the mesh configuration";
    const { direction, port, subset, host } = parts;
    if (direction === "inbound") return `port ${port} of the workload itself`;
    const passes = name.startsWith("outbound_.") ? ", passed on with its mutual TLS" : "";
    return subset === ""
      ? `port ${port} of ${host}, a service that this proxy can see${passes}`
      : `subset ${subset} of ${host}, port ${port}${passes}`;
  },
  endpoints(name) {
    const parts = parseClusterName(name);
    return parts === undefined
      ? "endpoints of a cluster"
      : `endpoints of ${parts.host}, port ${parts.port}, as this class sees them`;
  },
  extension_configs: (name) =>
    name.startsWith(extensionPrefix) ? "an extension of the workload, with Wasm" : "written by an EnvoyFilter",
  listeners(name) {
    if (name === "virtualInbound") return "inbound traffic, by port of the workload";
    if (name === "virtualOutbound") return "outbound traffic, handed to the listener of its original destination";
    const [, address, port] = /^(.*)_(\d+)$/.exec(name) ?? [];
    return port === undefined ? "a listener of the mesh configuration" : `traffic to port ${port} of ${address}`;
  },
  name_tables: () => "host names that this proxy can see, for the agent's DNS proxy",
  routes(name) {
    if (/^\d+$/.test(name)) return `HTTP to port ${name}, by host`;
    const [, host, port] = /^(.+):(\d+)$/.exec(name) ?? [];
    if (port !== undefined) return `HTTP to ${host}, port ${port}`;
    return name.startsWith("inbound|")
      ? "HTTP to a port of the workload"
      : "HTTP of a gateway's servers, or of a Sidecar's listener";
  },
};
