/**
 * Whose build of Envoy a proxy is: Istio's own has filters that a stock Envoy lacks, and refuses whole resources for. It has no imports,
 * so that both sides of the store can share it.
 */

export type ProxyBuild = "istio" | "envoy";

/**
 * What a mesh takes its proxies for. `auto`: what each says, by the list of its extensions or by `PROXY_BUILD` of its metadata; one that says
 * nothing is a stock Envoy. `istio`: the same, but one that says nothing is Istio's. `envoy`: all are stock Envoys, whatever they say.
 */
export type ProxyBuildSetting = "auto" | ProxyBuild;

/** Member of a node's metadata that names its build; what a node's extensions say is put there. */
export const buildMember = "PROXY_BUILD";

/** The build that metadata names; undefined: it names none. */
export function buildIn(metadata: Readonly<Record<string, unknown>>): ProxyBuild | undefined {
  const said = Object.hasOwn(metadata, buildMember) ? metadata[buildMember] : undefined;
  return said === "istio" || said === "envoy" ? said : undefined;
}

/** How the ids of classes begin, before their hash: those of Istio's own proxies say so. */
export const classPrefix = (type: string, build: ProxyBuild | undefined): string =>
  build === "istio" ? `${type}-istio` : type;

/** Whether a class is of Istio's own proxies, so that a stock Envoy would refuse what it gets. */
export const isIstioClass = (classId: string): boolean => /^[a-z]+-istio-/.test(classId);

/** Extensions that Istio's own proxy has, and that answers for it use: of a proxy that lacks one, it is none. */
const istioExtensions = [
  "envoy.filters.http.istio_stats",
  "envoy.filters.http.peer_metadata",
  "envoy.filters.network.istio_stats",
  "envoy.filters.network.metadata_exchange",
  "envoy.filters.network.upstream.metadata_exchange",
  "istio.alpn",
] as const;

/** The shortest lists of names that say as much as any other, in JSON. */
export const shortLists: Readonly<Record<ProxyBuild, string>> = {
  istio: JSON.stringify(istioExtensions.map((name) => ({ name }))),
  envoy: JSON.stringify([{ name: "envoy" }]),
};

/**
 * Whose build has these extensions.
 *
 * @param names of all of them
 * @returns undefined where there are none: every Envoy has some, but not everybody passes their list on
 */
export function buildOfExtensions(names: Iterable<string>): ProxyBuild | undefined {
  const all = new Set(names);
  if (all.size === 0) return undefined;
  return istioExtensions.every((name) => all.has(name)) ? "istio" : "envoy";
}
