import { fieldsOf, listOf, stringsOf, textOf } from "../../base/untyped.ts";
import { type KubernetesObject, objectNamespace } from "./object.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the variables of a container may refer to. */
export interface EnvironmentSource {
  readonly pod: KubernetesObject;
  readonly container: Fields;
}

export interface Environment {
  /** In the order in which the container lists them; of one name the last. */
  readonly values: ReadonlyMap<string, string>;
  /** Names of those whose value is no part of the pod: it stands in a ConfigMap, a Secret or a file. */
  readonly elsewhere: readonly string[];
}

/**
 * The environment of a container as the kubelet makes it: references to fields of the pod and to the container's limits are
 * looked up, `$(NAME)` stands for a variable before it. What `envFrom` brings is not known.
 * @see https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */
export function environmentOf({ pod, container }: EnvironmentSource): Environment {
  const values = new Map<string, string>();
  const elsewhere: string[] = [];
  for (const entry of listOf(container.env)) {
    const { name, value, valueFrom } = fieldsOf(entry);
    const variable = textOf(name);
    if (variable === "") continue;
    const { fieldRef, resourceFieldRef, ...others } = fieldsOf(valueFrom);
    const found =
      fieldRef !== undefined
        ? podField(pod, textOf(fieldsOf(fieldRef).fieldPath))
        : resourceFieldRef !== undefined
          ? limit(container, fieldsOf(resourceFieldRef))
          : expand(textOf(value), values);
    if (Object.keys(others).length > 0) {
      elsewhere.push(variable);
      values.delete(variable);
    } else if (found !== undefined) values.set(variable, found);
  }
  return { values, elsewhere };
}

/** Longest value that is made, in UTF-16 units: no process is given a longer variable. */
const maxLength = 131_072;

/**
 * Replaces `$(NAME)` by what is known of it, and `$$` by `$`; a name that is not known stays as it is written, and so does
 * a text that would become longer than any variable.
 */
export function expand(text: string, values: ReadonlyMap<string, string>): string {
  if (!text.includes("$")) return text;
  let { length } = text;
  const made = text.replaceAll(/\$(?:\$|\(([^()]*)\))/g, (written, name?: string) => {
    const value = name === undefined ? "$" : (values.get(name) ?? written);
    length += value.length - written.length;
    return length > maxLength ? written : value;
  });
  return length > maxLength ? text : made;
}

/** A field of a pod that the downward API can tell; undefined for any other. */
function podField(pod: KubernetesObject, path: string): string | undefined {
  const [, map, key] = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path) ?? [];
  if (map !== undefined && key !== undefined) return stringsOf(pod.metadata[map])[key] ?? "";
  const spec = fieldsOf(pod.spec);
  const status = fieldsOf(pod.status);
  const listed = (list: unknown): string =>
    listOf(list)
      .map((entry) => textOf(fieldsOf(entry).ip))
      .join(",");
  switch (path) {
    case "metadata.name":
      return pod.metadata.name;
    case "metadata.namespace":
      return objectNamespace(pod);
    case "metadata.uid":
      return textOf(pod.metadata.uid);
    case "spec.nodeName":
      return textOf(spec.nodeName);
    case "spec.serviceAccountName":
      return textOf(spec.serviceAccountName);
    case "status.hostIP":
      return textOf(status.hostIP);
    case "status.hostIPs":
      return listed(status.hostIPs);
    case "status.podIP":
      return textOf(status.podIP);
    case "status.podIPs":
      return listed(status.podIPs);
    default:
      return undefined;
  }
}

/** A container's own CPU limit, in the divisor's unit, rounded up; undefined where it has none, which means the node's. */
function limit(container: Fields, reference: Fields): string | undefined {
  if (reference.resource !== "limits.cpu") return undefined;
  const limited = cpus(fieldsOf(fieldsOf(container.resources).limits).cpu);
  const divisor = cpus(reference.divisor) || 1;
  return limited === undefined ? undefined : String(Math.ceil(limited / divisor));
}

/** `2`, `1.5` or `500m`; undefined for anything else. */
function cpus(quantity: unknown): number | undefined {
  const [, number, milli] = /^(\d+(?:\.\d+)?)(m?)$/.exec(String(quantity ?? "")) ?? [];
  return number === undefined ? undefined : Number(number) / (milli === "m" ? 1000 : 1);
}
