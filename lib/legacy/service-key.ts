/**
 * Names of a service's ports and subsets: `hostname|port,port|label=value,label;label=value`.
 * @see docs/how-istio-does-it/legacy-v1.md#names
 */
export interface ServiceKeyParts {
  readonly hostname: string;
  /** Port names; [""] where the key names none. */
  readonly ports: readonly string[];
  /** Any of these sets may match; undefined: no labels are asked for. */
  readonly labels: readonly Labels[] | undefined;
}

export type Labels = Readonly<Record<string, string>>;

/** Writes a key. An empty set of labels still writes its bar, an absent one does not; a single unnamed port writes nothing. */
export function serviceKey(
  hostname: string,
  ports: readonly string[],
  labels: readonly (Labels | undefined)[] = [],
): string {
  const sets = labels.length === 1 && labels[0] === undefined ? [] : labels;
  if (sets.length === 0 && (ports.length === 0 || (ports.length === 1 && ports[0] === ""))) return hostname;
  const portPart = [...ports].sort().join(",");
  if (sets.length === 0) return `${hostname}|${portPart}`;
  return `${hostname}|${portPart}|${sets.map(labelsText).sort().join(";")}`;
}

/** Reads a key; never fails, what is too much or said again is ignored. */
export function parseServiceKey(key: string): ServiceKeyParts {
  const [hostname = "", ports, labels] = key.split("|");
  return {
    hostname,
    ports: ports === undefined ? [""] : distinct(ports.split(",")),
    labels: labels === undefined || labels === "" ? undefined : distinct(labels.split(";")).map(parseLabels),
  };
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

function labelsText(labels: Labels | undefined): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
    .sort()
    .join(",");
}

/** `x=1=2` is label x with value 1, `x` one with an empty value. */
function parseLabels(text: string): Labels {
  return Object.fromEntries(
    text.split(",").map((pair) => {
      const [key = "", value = ""] = pair.split("=");
      return [key, value];
    }),
  );
}
