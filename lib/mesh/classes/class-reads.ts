import { accountMember, type LabelKeys } from "../../base/classifier.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import type { Question } from "../../incremental/tracked-query.ts";
import { networkLabel, nodeLabel, regionLabel, subzoneLabel, zoneLabel } from "../../registry/labels.ts";
import type { ProxyAnswers } from "../views/proxies/proxy-answers.ts";
import type { AskedOfProxies } from "./asked.ts";

/** Which attributes of nodes can tell classes apart in a mesh, in the terms of the classifier. */
export interface ClassReads {
  readonly attributes: readonly string[];
  readonly labels: Readonly<Record<string, LabelKeys>>;
}

/** Labels that stand for an attribute of the node, which as a rule sends no such labels itself. */
const topologyAttributes: ReadonlyMap<string, string> = new Map([
  [regionLabel, "locality"],
  [zoneLabel, "locality"],
  [subzoneLabel, "locality"],
  [networkLabel, "network"],
  [nodeLabel, "nodeName"],
]);

/**
 * What the front has to look at, in the classifier's words. The registry's own facts (what a workload serves, its addresses)
 * are no claims of a node: nodes that differ in those alone are told apart by their names.
 *
 * Every node's namespace is read: it says which labels are. So are its service account and its cluster, whether answers depend on them
 * or not: a node that has proven them gets a class of nodes of that account and cluster, whatever else it says of itself.
 */
export function classReads(asked: AskedOfProxies): ClassReads {
  const attributes = new Set(["namespace", attributeOfField.serviceAccount, attributeOfField.clusterId]);
  const labels = new Map<string, Set<string>>();
  for (const [namespace, questions] of asked.byNamespace) {
    const keys = new Set<string>();
    labels.set(namespace, keys);
    for (const question of questions.values()) {
      const { attribute, label } = claimOf(question);
      if (attribute !== undefined) attributes.add(attribute);
      if (label !== undefined) keys.add(label);
    }
  }
  return { attributes: [...attributes].sort(byCodePoint), labels: labelKeys(labels) };
}

type QuestionField = keyof ProxyAnswers;

/** Questions without an argument, by the attribute that answers them; undefined: no claim does. */
const attributeOfField = {
  type: "type",
  namespace: "namespace",
  dnsDomain: "dnsDomain",
  clusterId: "clusterId",
  network: "network",
  locality: "locality",
  nodeName: "nodeName",
  name: "name",
  nodeCluster: "cluster",
  serviceAccount: `metadata:${accountMember}`,
  interceptionMode: "interceptionMode",
  families: "families",
  addresses: undefined,
  targets: undefined,
} as const satisfies Readonly<
  Record<Exclude<QuestionField, "label" | "annotation" | "build" | "metadata" | "proxyConfig">, string | undefined>
>;

const isField = (field: string): field is keyof typeof attributeOfField => Object.hasOwn(attributeOfField, field);

function claimOf({ field, args }: Question): { readonly attribute?: string | undefined; readonly label?: string } {
  const name = String(field);
  const key = String(args?.[0]);
  switch (name) {
    case "label":
      return { label: key, attribute: topologyAttributes.get(key) };
    case "annotation":
    case "build":
    case "metadata":
    case "proxyConfig":
      return { attribute: `${name}:${key}` };
    default:
      if (!isField(name)) throw new Error(`a question that no claim answers: ${name}`);
      return { attribute: attributeOfField[name] };
  }
}

/** Keys that are read in every namespace stand under "*", once. */
function labelKeys(byNamespace: ReadonlyMap<string, ReadonlySet<string>>): Readonly<Record<string, LabelKeys>> {
  const [first, ...others] = [...byNamespace.values()];
  const everywhere = [...(first ?? [])].filter((key) => others.every((keys) => keys.has(key)));
  const own = [...byNamespace].map(([namespace, keys]): [string, LabelKeys] => [
    namespace,
    { keys: [...keys].filter((key) => !everywhere.includes(key)).sort(byCodePoint) },
  ]);
  const all: readonly [string, LabelKeys][] = [["*", { keys: everywhere.sort(byCodePoint) }], ...own];
  return Object.fromEntries(all.filter(([, { keys }]) => keys.length > 0).sort(([a], [b]) => byCodePoint(a, b)));
}
