import { type Fields, isFields } from "../base/untyped.ts";

/** Lists whose elements are told apart by a member, as Kubernetes' strategic merge has them; all others are exchanged as a whole. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  volumes: "name",
  imagePullSecrets: "name",
  env: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
};

/**
 * Puts an overlay over an object: members are merged, lists by the key of their elements, and everything else is exchanged. A `null` takes
 * a member away.
 *
 * @see https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function merged(under: Fields, over: Fields): Fields {
  const result: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const before = result[name];
    const key = mergeKeys[name];
    if (value === null) delete result[name];
    else if (isFields(value)) result[name] = merged(isFields(before) ? before : {}, value);
    else if (key !== undefined && Array.isArray(value) && Array.isArray(before)) {
      result[name] = mergedLists(before.filter(isFields), value.filter(isFields), key);
    } else result[name] = value;
  }
  return result;
}

/** Elements of the overlay come first, unless both lists have an element and the one below has it after another of its own. */
function mergedLists(under: readonly Fields[], over: readonly Fields[], key: string): readonly Fields[] {
  const indexes = new Map<unknown, number>();
  for (const [index, one] of under.entries()) if (!indexes.has(one[key])) indexes.set(one[key], index);
  const indexBelow = (element: Fields): number => indexes.get(element[key]) ?? -1;
  const overlaid = new Set(over.map((one) => one[key]));
  const left = under.filter((one) => !overlaid.has(one[key]));
  const right = over.map((one) => merged(under[indexBelow(one)] ?? {}, one));
  const result: Fields[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [own, other] = [left[i], right[j]];
    const comesFirst =
      own !== undefined && (other === undefined || (indexBelow(other) >= 0 && indexBelow(own) < indexBelow(other)));
    const next = comesFirst ? own : other;
    if (next === undefined) break;
    result.push(next);
    if (comesFirst) i += 1;
    else j += 1;
  }
  return result;
}
