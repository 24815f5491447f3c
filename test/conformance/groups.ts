/** Readable names of the feature groups of the v3 suite, by the text before the colon in `about.txt`. */
const groupNames: Readonly<Record<string, string>> = {
  services: "Kubernetes services and ports",
  serviceentry: "ServiceEntry and WorkloadEntry",
  virtualservice: "VirtualService",
  destinationrule: "DestinationRule",
  gateway: "Gateway",
  sidecar: "Sidecar",
  envoyfilter: "EnvoyFilter",
  security: "PeerAuthentication, AuthorizationPolicy, RequestAuthentication",
  telemetry: "Telemetry",
  wasm: "WasmPlugin",
  multicluster: "Several clusters and networks",
  ingress: "Kubernetes Ingress",
  mesh: "Mesh configuration, locality, kinds of proxies",
  combined: "Realistic combinations",
};

/** The group of a case: its `about.txt` says `group: what the case shows`; an unknown group keeps its own word. */
export function groupOf(about: string): string {
  const colon = about.indexOf(":");
  const word = colon < 0 ? "other" : about.slice(0, colon).trim();
  return groupNames[word] ?? word;
}

/** True when the words given to `--group` mean this group: its name, the word of `about.txt`, or a part of either. */
export function isGroup(group: string, wanted: string): boolean {
  const word = Object.keys(groupNames).find((key) => groupNames[key] === group) ?? group;
  const needle = wanted.toLowerCase();
  return word.toLowerCase() === needle || group.toLowerCase().includes(needle);
}
