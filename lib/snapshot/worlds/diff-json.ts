/** One place in which two JSON values differ. */
export interface JsonChange {
  /**
   * As people write it: `virtualHosts[0].routes[1].route.cluster`, or `virtualHosts[shop.example.com:80]…` where one was put before others or
   * taken from there; "" for the whole value.
   */
  readonly path: string;
  /** undefined where there is none. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Where two JSON values differ, in order of the document, down to the smallest values. */
export function diffJson(before: unknown, after: unknown, path = ""): readonly JsonChange[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    const names = namesThatMoved(before, after);
    if (names !== undefined) {
      const [then, now] = [byName(before), byName(after)];
      return names.flatMap((name) => diffJson(then.get(name), now.get(name), `${path}[${name}]`));
    }
    return Array.from({ length: Math.max(before.length, after.length) }, (_, i) =>
      diffJson(before[i], after[i], `${path}[${i}]`),
    ).flat();
  }
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => diffJson(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  return before === after ? [] : [{ path, before, after }];
}

/** What an element of a list is known by: its name, of an endpoint its address, of endpoints of one locality that. */
function nameOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.name === "string") return value.name;
  if (isObject(value.endpoint)) return addressOf(value.endpoint.address);
  return Array.isArray(value.lbEndpoints) ? localityOf(value) : undefined;
}

function addressOf(address: unknown): string | undefined {
  if (!isObject(address)) return undefined;
  const { socketAddress, pipe } = address;
  if (isObject(pipe)) return String(pipe.path);
  if (!isObject(socketAddress)) return undefined;
  const { address: host, portValue } = socketAddress;
  return typeof host === "string" ? `${host.includes(":") ? `[${host}]` : host}:${portValue ?? 0}` : undefined;
}

function localityOf({ locality, priority }: Readonly<Record<string, unknown>>): string {
  const { region = "", zone = "", subZone = "" } = isObject(locality) ? locality : {};
  return [`${region}/${zone}/${subZone}`, ...(priority === undefined ? [] : [`priority ${priority}`])].join(" ");
}

const byName = (list: readonly unknown[]) => new Map(list.map((element) => [nameOf(element), element]));

/**
 * Elements that have names (virtual hosts, filters) or addresses (endpoints) and stand at other places because some came or went before them are compared by their
 * names.
 *
 * @returns those of both lists; undefined where places tell as much, names are missing or not unique, or what stays changed its order
 */
function namesThatMoved(before: readonly unknown[], after: readonly unknown[]): readonly string[] | undefined {
  const [then, now] = [
    before.flatMap((element) => nameOf(element) ?? []),
    after.flatMap((element) => nameOf(element) ?? []),
  ];
  const [those, these] = [new Set(then), new Set(now)];
  if (those.size < before.length || these.size < after.length) return undefined;
  const stayed = then.filter((name) => these.has(name));
  if (stayed.every((name, at) => then[at] === name && now[at] === name)) return undefined;
  if (now.filter((name) => those.has(name)).some((name, at) => name !== stayed[at])) return undefined;
  return [...then.filter((name) => !these.has(name)), ...now];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
