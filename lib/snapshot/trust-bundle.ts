/** Certificates that others are checked against, which are no secret: a root has those that its resources name. */
export interface TrustBundle {
  /** Certificates, PEM. */
  readonly ca: string;
  /** Lists of revoked ones, PEM; absent: none is checked. */
  readonly crl?: string;
}

/** By `namespace/name` of the ConfigMap, or `/name` of the ClusterTrustBundle, that holds them. */
export type TrustBundles = Readonly<Record<string, TrustBundle>>;

/** What the SDS name of certificates asks for. */
export interface BundleQuestion {
  /** undefined: the asking proxy's; "": it is a ClusterTrustBundle. */
  readonly namespace: string | undefined;
  readonly name: string;
}

const form = /^configmap:\/\/(?:([a-z0-9][a-z0-9.-]{0,252})\/)?([a-z0-9][a-z0-9.-]{0,252})$/;
const clusterForm = /^clustertrustbundle:\/\/([a-z0-9][a-z0-9.:-]{0,252})$/;
const caSuffix = "-cacert";

/**
 * Reads `configmap://<namespace>/<name>`, `configmap://<name>` and `clustertrustbundle://<name>`, with or without `-cacert` at the end:
 * such objects have nothing else.
 *
 * @returns undefined for any other name
 */
export function readBundleName(text: string): BundleQuestion | undefined {
  const [, ofCluster] = clusterForm.exec(text) ?? [];
  if (ofCluster !== undefined) return { namespace: "", name: withoutSuffix(ofCluster) };
  const [, namespace, name] = form.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { namespace, name: withoutSuffix(name) };
}

const withoutSuffix = (name: string): string =>
  name.endsWith(caSuffix) && name !== caSuffix ? name.slice(0, -caSuffix.length) : name;

/** Those of some bundles that resources name; one without a namespace may mean that of any. */
export function namedBundles(bundles: TrustBundles, names: Iterable<string>): TrustBundles | undefined {
  const whole = new Set<string>();
  const anywhere = new Set<string>();
  for (const text of names) {
    const question = readBundleName(text);
    if (question === undefined) continue;
    if (question.namespace === undefined) anywhere.add(question.name);
    else whole.add(`${question.namespace}/${question.name}`);
  }
  const entries = Object.entries(bundles).filter(
    ([key]) => whole.has(key) || (!key.startsWith("/") && anywhere.has(key.slice(key.indexOf("/") + 1))),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
