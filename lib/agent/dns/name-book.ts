import type { HeldResource } from "../source/resources.ts";

/** Where a workload asks from: decides which short names are its own. */
export interface DnsClient {
  readonly namespace: string;
  /** `svc.cluster.local`; "" where the node says none. */
  readonly domain: string;
  /** What its resolver adds to a name first; undefined: nothing. */
  readonly search: string | undefined;
}

/** Addresses behind a name, of either family. */
export interface Addresses {
  readonly A: readonly string[];
  readonly AAAA: readonly string[];
}

/** What is known of a name that was asked for. */
export interface Found extends Addresses {
  /** The name without the search domain that the question had; undefined: it had none. */
  readonly target: string | undefined;
}

/** The names of a table, as a workload may ask for them. */
export interface NameBook {
  /** @param name in lower case, without the dot at its end @returns undefined for a name that is to be asked for elsewhere */
  find(name: string): Found | undefined;
}

/** A name of a NameTable in JSON. */
interface NameInfo {
  readonly ips?: readonly string[];
  readonly registry?: string;
  readonly shortname?: string;
  readonly namespace?: string;
}

/** @see docs/how-istio-does-it/names-over-dns.md#what-the-agent-answers */
export function createNameBook(tables: Iterable<Pick<HeldResource, "text">>, dnsClient: DnsClient): NameBook {
  const hosts = new Map<string, Addresses>();
  for (const { text } of tables) {
    const { table = {} }: { readonly table?: Readonly<Record<string, NameInfo>> } = JSON.parse(text);
    for (const [host, info] of Object.entries(table)) {
      const addresses = addressesOf(info.ips ?? []);
      if (addresses.A.length + addresses.AAAA.length === 0) continue;
      for (const form of formsOf(host, info, dnsClient)) hosts.set(form.toLowerCase(), addresses);
    }
  }
  const wildcard = (name: string): Addresses | undefined => {
    for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
      const found = hosts.get(`*${name.slice(dot)}`);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const ending =
    dnsClient.search === undefined || dnsClient.search === "" ? undefined : `.${dnsClient.search.toLowerCase()}`;
  return {
    find(name) {
      const exact = hosts.get(name);
      if (exact !== undefined) return { ...exact, target: undefined };
      if (ending !== undefined && name.endsWith(ending)) {
        const target = name.slice(0, -ending.length);
        const found = hosts.get(target) ?? wildcard(target);
        if (found !== undefined) return { ...found, target };
      }
      const found = wildcard(name);
      return found && { ...found, target: undefined };
    },
  };
}

const addressesOf = (ips: readonly string[]): Addresses => ({
  A: ips.filter((ip) => !ip.includes(":")),
  AAAA: ips.filter((ip) => ip.includes(":")),
});

/** The forms in which a name may be asked for: of a service of the own domain also the short ones. */
function formsOf(host: string, info: NameInfo, { namespace, domain }: DnsClient): readonly string[] {
  const { registry, shortname = "", namespace: of = "" } = info;
  if (registry !== "Kubernetes" || domain === "" || shortname === "" || !host.endsWith(`.${domain}`)) return [host];
  const inNamespace = `${shortname}.${of}`;
  const first = domain.split(".")[0] ?? "";
  return [host, inNamespace, `${inNamespace}.${first}`, ...(of === namespace ? [shortname] : [])];
}
