import { InvalidArgumentError } from "commander";
import { byCodePoint } from "../../base/diagnostic.ts";
import { nearestName } from "../../base/nearest-name.ts";
import { kindSchemas } from "../../config/kind-registry.ts";
import { legacyKinds } from "../../config/legacy-kinds.ts";

/** What a word for a type means. */
export interface NamedKind {
  readonly group: string;
  readonly kind: string;
  readonly clusterScoped: boolean;
  /** Istio's kinds, which `apply` writes; Kubernetes' own come with a folder. */
  readonly isConfig: boolean;
}

interface KnownKind extends NamedKind {
  /** In lower case. */
  readonly words: readonly string[];
}

/** The short names that Istio's custom resources have. */
const shortNames: Readonly<Record<string, string>> = {
  VirtualService: "vs",
  DestinationRule: "dr",
  Gateway: "gw",
  ServiceEntry: "se",
  WorkloadEntry: "we",
  WorkloadGroup: "wg",
  AuthorizationPolicy: "ap",
  PeerAuthentication: "pa",
  RequestAuthentication: "ra",
  Ingress: "ing",
};

/** Kinds of Kubernetes' own that people look for, with their plural and short names. */
const platformKinds: readonly (readonly [group: string, kind: string, words: string, scope?: "cluster"])[] = [
  ["", "Service", "services svc"],
  ["", "Pod", "pods po"],
  ["", "Endpoints", "endpoints ep"],
  ["", "ConfigMap", "configmaps cm"],
  ["", "ServiceAccount", "serviceaccounts sa"],
  ["", "Namespace", "namespaces ns", "cluster"],
  ["", "Node", "nodes no", "cluster"],
  ["discovery.k8s.io", "EndpointSlice", "endpointslices"],
  ["certificates.k8s.io", "ClusterTrustBundle", "clustertrustbundles", "cluster"],
  ["apps", "Deployment", "deployments deploy"],
  ["apps", "StatefulSet", "statefulsets sts"],
  ["apps", "DaemonSet", "daemonsets ds"],
  ["apps", "ReplicaSet", "replicasets rs"],
  ["batch", "Job", "jobs"],
  ["batch", "CronJob", "cronjobs cj"],
];

const knownKinds: readonly KnownKind[] = [
  ...kindSchemas.map(({ group, kind, plural, clusterScoped }) => {
    const short = shortNames[kind];
    const own = group === "gateway.networking.k8s.io" && kind === "Gateway" ? ["gtw"] : [];
    const words = [kind.toLowerCase(), plural, ...(short === undefined ? [] : [short]), ...own];
    return { group, kind, clusterScoped, isConfig: true, words };
  }),
  ...platformKinds.map(([group, kind, words, scope]) => ({
    group,
    kind,
    clusterScoped: scope === "cluster",
    isConfig: false,
    words: [kind.toLowerCase(), ...words.split(" ")],
  })),
];

/**
 * The kind that a word on the command line means: its plural, singular, short name or its name, in any case; after a dot its
 * group may follow, as kubectl writes it.
 *
 * @throws InvalidArgumentError for any other word; hyphens, as very old releases had them, get a hint
 */
function kindNamed(word: string): NamedKind {
  return kindsNamed(word).kind;
}

/** The same, with the other kinds that the word means: a `gateway` is Istio's, and the Gateway API's. */
function kindsNamed(word: string): Pick<NamedObjects, "kind" | "others"> {
  const [plain = "", group] = word.toLowerCase().split(/\.(.*)/);
  const isMeant = (known: KnownKind, name: string) =>
    known.words.includes(name) && (group === undefined || known.group === group || `v1.${known.group}` === group);
  const [found, ...others] = knownKinds.filter((known) => isMeant(known, plain));
  if (found !== undefined) return { kind: found, others };
  const joined = plain.replaceAll("-", "");
  if (joined !== plain && knownKinds.some((known) => isMeant(known, joined))) {
    throw new InvalidArgumentError(`types are written without hyphens: ${joined} instead of ${word}`);
  }
  const meant = meantWord(plain);
  const advice =
    meant === undefined ? `\`portolan get TYPE\` takes ${knownNames().join(", ")}` : `did you mean ${meant}?`;
  throw new InvalidArgumentError(`there is no type ${word}; ${advice}`);
}

/** The kind whose name comes nearest, else the short name, with its kind. */
function meantWord(word: string): string | undefined {
  const names = knownKinds.map(({ kind }) => kind.toLowerCase());
  const name = nearestName(word, names);
  if (name !== undefined) return name;
  const other = nearestName(
    word,
    knownKinds.flatMap(({ words }) => words),
  );
  const of = other === undefined ? undefined : knownKinds.find(({ words }) => words.includes(other));
  return of && `${other} (${of.kind.toLowerCase()})`;
}

const legacy: ReadonlySet<string> = new Set(legacyKinds.map(({ group, kind }) => `${group}/${kind}`));

/** What to write for each kind but those of Istio up to 1.5; of two with one name the later one has its group. */
function knownNames(): readonly string[] {
  const taken = new Set<string>();
  const today = knownKinds.filter(({ group, kind }) => !legacy.has(`${group}/${kind}`));
  const names = today.map(({ kind, group }) => {
    const name = kind.toLowerCase();
    if (taken.has(name)) return `${name}.${group}`;
    taken.add(name);
    return name;
  });
  return names.sort(byCodePoint);
}

/** The same, of Istio's kinds only. @throws InvalidArgumentError for others, which come with a folder */
export function configKindNamed(word: string): NamedKind {
  return needConfig(kindNamed(word));
}

/** @throws InvalidArgumentError for a kind of Kubernetes' own */
export function needConfig(found: NamedKind): NamedKind {
  if (found.isConfig) return found;
  throw new InvalidArgumentError(
    `${found.kind} is Kubernetes' own, and comes with a folder: \`portolan push\`; \`portolan get\` shows it`,
  );
}

/** Objects of one kind, as the command line names them. */
export interface NamedObjects {
  readonly kind: NamedKind;
  /** Kinds of other groups that the word means as well. */
  readonly others: readonly NamedKind[];
  /** Absent: all. */
  readonly name?: string;
}

/**
 * What kubectl's users write: `vs`, `vs,gw`, `vs reviews`, `vs/reviews svc/web`.
 *
 * @throws InvalidArgumentError when it is neither
 */
export function namedObjects(words: readonly string[]): readonly NamedObjects[] {
  const [type = "", ...names] = words;
  if (words.some((word) => word.includes("/"))) {
    return words.map((word) => {
      const [kind = "", name = "", more] = word.split("/");
      if (name === "" || more !== undefined)
        throw new InvalidArgumentError(`${word} is not TYPE/NAME like the others: write vs/reviews vs/ratings`);
      return { ...kindsNamed(kind), name };
    });
  }
  const kinds = type.split(",").map(kindsNamed);
  return kinds.flatMap((kind) => (names.length === 0 ? [kind] : names.map((name) => ({ ...kind, name }))));
}
