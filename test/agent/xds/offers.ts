import { type LocalResource, type Offer, offerOf } from "../../../lib/agent/xds/offer.ts";
import { type CoreType, coreTypes } from "../../../lib/snapshot/resource-type.ts";

/** Versions of resources by name, of each type: `{ clusters: { a: "1" } }`. */
export type Versions = Partial<Readonly<Record<CoreType, Readonly<Record<string, string>>>>>;

export const local = (name: string, version: string): LocalResource => ({
  name,
  version,
  text: "",
  from: [],
  binary: new TextEncoder().encode(`${name}=${version}`),
  source: `${name}=${version}`,
});

/** An offer of these. */
export const offer = (versions: Versions): Offer =>
  offerOf(
    (type) => new Map(Object.entries(versions[type] ?? {}).map(([name, version]) => [name, local(name, version)])),
  );

/** What an offer consists of; types of which it has nothing are left out. */
export const versionsOf = (of: Offer | undefined): Versions =>
  Object.fromEntries(
    coreTypes.flatMap((type) => {
      const list = [...(of?.[type].values() ?? [])].map(({ name, version }) => [name, version] as const);
      return list.length === 0 ? [] : [[type, Object.fromEntries(list.sort(([a], [b]) => (a < b ? -1 : 1)))]];
    }),
  );
