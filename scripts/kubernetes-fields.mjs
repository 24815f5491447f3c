// Writes lib/config/kubernetes/fields.ts: the fields of Kubernetes' kinds, from the models of its JavaScript client, which are made from the
// OpenAPI document that Kubernetes publishes.
//
//   npm pack @kubernetes/client-node && tar xzf kubernetes-client-node-*.tgz
//   node scripts/kubernetes-fields.mjs package/dist/gen/models > lib/config/kubernetes/fields.ts

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const roots = [
  "V1ConfigMap",
  "V1ClusterRole",
  "V1ClusterRoleBinding",
  "V1CronJob",
  "V1DaemonSet",
  "V1Deployment",
  "V1EndpointSlice",
  "V1Endpoints",
  "V1Ingress",
  "V1IngressClass",
  "V1Job",
  "V1Lease",
  "V1MutatingWebhookConfiguration",
  "V1Namespace",
  "V1NetworkPolicy",
  "V1Node",
  "V1PersistentVolume",
  "V1PersistentVolumeClaim",
  "V1Pod",
  "V1PodDisruptionBudget",
  "V1ReplicaSet",
  "V1Role",
  "V1RoleBinding",
  "V1Secret",
  "V1Service",
  "V1ServiceAccount",
  "V1StatefulSet",
  "V1ValidatingWebhookConfiguration",
  "V2HorizontalPodAutoscaler",
];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node scripts/kubernetes-fields.mjs MODELS");

const plain = {
  string: "text",
  boolean: "flag",
  any: "any",
  Date: "text",
  V1MicroTime: "text",
  IntOrString: "intOrText",
};
const lines = new Map();
const waiting = [...roots];
let release = "";
for (let model = waiting.pop(); model !== undefined; model = waiting.pop()) {
  if (lines.has(model)) continue;
  const { [model]: type } = await import(pathToFileURL(join(folder, `${model}.js`)).href);
  release =
    /OpenAPI spec version: release-(\S+)/.exec(readFileSync(join(folder, `${model}.js`), "utf8"))?.[1] ?? release;
  const fields = type.attributeTypeMap.map(
    ({ baseName, type: written, format }) => `${baseName} ${asQuantity(model, baseName, typeOf(written, format))}`,
  );
  lines.set(model, `${nameOf(model)}: ${fields.sort().join(", ")}`);
}

/** `text[]`, `Container[]`, `text{}` of a map. */
function typeOf(written, format) {
  const list = /^(?:Array|Set)<(.*)>$/.exec(written)?.[1];
  if (list !== undefined) return `${typeOf(list, format)}[]`;
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(written)?.[1];
  if (map !== undefined) return `${typeOf(map, "")}{}`;
  if (written === "number") return format === "double" ? "number" : "int";
  if (Object.hasOwn(plain, written)) return plain[written];
  waiting.push(written);
  return nameOf(written);
}

/** The client says `string` of quantities, which may be written as numbers too. */
function asQuantity(model, field, type) {
  const named = /^(?:limits|requests|capacity|allocatable|allocatedResources|overhead|divisor|sizeLimit|averageValue)$/;
  if (!named.test(field) && !(model === "V2MetricTarget" && field === "value")) return type;
  return type.replace(/^text/, "quantity");
}

function nameOf(model) {
  return model.replace(/^V\d+/, "");
}

process.stdout.write(`/**
 * The fields of Kubernetes' kinds in release ${release}, one type a line: \`[]\` is a list, \`{}\` a map by text.
 * Written by scripts/kubernetes-fields.mjs.
 */
export const kubernetesFields = \`
${[...lines.values()].sort().join("\n")}
\`;
`);
