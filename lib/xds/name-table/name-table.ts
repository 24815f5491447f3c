import type { NameTable_NameInfoJson, NameTableJson } from "../../../gen/istio/networking/nds/v1/nds_pb.ts";
import { byCodePoint, type ConfigKey } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { NamedServices, NameView } from "../../mesh/views/name-view.ts";
import { serviceKey } from "../../registry/changes/registry-state.ts";
import { nameTableName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { type NamedAddresses, namesOfService } from "./names-of-service.ts";

/**
 * The names that a proxy can ask for, with their addresses: one resource, for the DNS proxy that an agent runs. The same list for
 * all classes that see the same.
 *
 * @see docs/how-istio-does-it/names-over-dns.md#the-table
 */
export const nameTables = (memo: Memo, { named }: NameView): readonly Resource<NameTableJson>[] =>
  tablesOf(memo, { named });

const tablesOf = query(
  "name tables",
  ({ named }: { readonly named: NamedServices }, memo: Memo): readonly Resource<NameTableJson>[] => {
    const { lists, headless, endpoints, seen } = named;
    const behind = new Map(headless.map((service, at) => [serviceKey(service), endpoints[at]]));
    const table: Table = new Map();
    for (const service of lists.flat()) {
      const names = namesOfService(memo, { service, endpoints: behind.get(serviceKey(service)), seen });
      for (const name of names) enter(table, name);
    }
    const entries = [...table].sort(([a], [b]) => byCodePoint(a, b));
    const from = new Map(entries.flatMap(([, { from: keys }]) => keys.map((key) => [key, key] as const)));
    const json = { table: Object.fromEntries(entries.map(([host, { info }]) => [host, info])) };
    return [{ name: nameTableName, json, from: [...from.values()] }];
  },
);

interface Entry {
  readonly info: NameTable_NameInfoJson;
  readonly from: readonly ConfigKey[];
}

type Table = Map<string, Entry>;

/** A name of Kubernetes is its own; others of one name, several ServiceEntries, are answered with the addresses of all. */
function enter(table: Table, { host, info, from, ofPod }: NamedAddresses): void {
  const known = table.get(host);
  if (known === undefined || ofPod) table.set(host, { info, from });
  else if (known.info.registry === kubernetes) return;
  else if (info.registry === kubernetes) table.set(host, { info, from });
  else {
    const ips = [...new Set([...(known.info.ips ?? []), ...(info.ips ?? [])])];
    table.set(host, { info: { ...known.info, ips }, from: [...known.from, ...from] });
  }
}

const kubernetes = "Kubernetes";
