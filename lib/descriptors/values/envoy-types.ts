import { registry } from "../registry.ts";
import { envoyTypeNames } from "./envoy-type-names.ts";

/** Types of the filters that only Istio's build of Envoy has. */
const istioTypes: ReadonlySet<string> = new Set([
  "envoy.tcp.metadataexchange.config.MetadataExchange",
  "io.istio.http.peer_metadata.Config",
  "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig",
  "istio.envoy.config.filter.http.istio_authn.v2alpha1.FilterConfig",
  "stats.PluginConfig",
]);

let names: ReadonlySet<string> | undefined;

/** Whether an Envoy of the releases that are served, or Istio's, has a type whose fields are not known here. */
export function isTypeOfEnvoy(name: string): boolean {
  names ??= readNames();
  return names.has(name) || istioTypes.has(name);
}

function readNames(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of envoyTypeNames.trim().split("\n")) {
    const [path = "", list = ""] = line.split(": ");
    for (const name of list.split(" ")) found.add(`envoy.${path}.${name}`);
  }
  return found;
}

/** Versions of Envoy's API before v3, none of which a current Envoy has. */
const goneVersion = /^envoy\.(?:\w+\.)*v[12](?:alpha\d*)?\.(?:\w+\.)?\w+$/;

export const isGoneType = (name: string): boolean => goneVersion.test(name);

/** Packages of v2 that have other names in v3 than rules give them. */
const renamedFolders: readonly (readonly [old: RegExp, now: string])[] = [
  [/^envoy\.config\.filter\.(http|network|listener|udp)\.(\w+)\.v\w+\./, "envoy.extensions.filters.$1.$2.v3."],
  [/^envoy\.config\.accesslog\.v2\.FileAccessLog$/, "envoy.extensions.access_loggers.file.v3.FileAccessLog"],
  [/^envoy\.api\.v2\.auth\./, "envoy.extensions.transport_sockets.tls.v3."],
  [/^envoy\.config\.cluster\.(\w+)\.v\w+\./, "envoy.extensions.clusters.$1.v3."],
  [/^envoy\.config\.transport_socket\.(\w+)\.v\w+\./, "envoy.extensions.transport_sockets.$1.v3."],
  [/^envoy\.config\.trace\.v2\./, "envoy.config.trace.v3."],
];

/** Filters whose folder has another name now. */
const renamedFilters: Readonly<Record<string, string>> = {
  rate_limit: "ratelimit",
  local_rate_limit: "local_ratelimit",
  transcoder: "grpc_json_transcoder",
};

/** The type of today that took the place of one that is gone; undefined where no rule leads to one. */
export function renamedType(name: string): string | undefined {
  for (const [old, now] of renamedFolders) {
    if (!old.test(name)) continue;
    const today = name.replace(old, now).replace(/\.(\w+)\.v3\./, (all, folder: string) => {
      const renamed = renamedFilters[folder];
      return renamed === undefined ? all : `.${renamed}.v3.`;
    });
    return registry.getMessage(today) === undefined && !isTypeOfEnvoy(today) ? undefined : today;
  }
  return undefined;
}
