/** Addresses for hosts of ServiceEntries that have none, which proxies with DNS capture answer with. */

import { fieldsOf, listOf, textOf } from "../../base/untyped.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { AllocatedAddresses } from "../../config/kinds/resolved-facts.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import { isWildcard } from "../../config/values/host-name.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";

/** Label by which an entry asks for no addresses. */
const optOutLabel = "networking.istio.io/enable-autoallocate-ip";

/** An address as an entry's status has it. */
export interface StatusAddress {
  readonly host: string;
  readonly value: string;
}

/**
 * Hosts of an entry that are to be given addresses: those that neither the entry nor its status gives any.
 *
 * @see istio 1.30.3 pilot/pkg/controllers/ipautoallocate
 */
export function hostsWithoutAddress(config: Config<ServiceEntry>): readonly string[] {
  if (!takesAddresses(config)) return [];
  const { spec, status } = config;
  const { resolution, hosts } = spec;
  const given = new Set(statusAddresses(status).map(({ host }) => host));
  return hosts.filter((host) => !given.has(host) && (resolution === "DYNAMIC_DNS" || !isWildcard(host)));
}

/** What says whether an entry's hosts are given addresses. */
interface AddressWish {
  readonly meta: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly resolution?: string; readonly addresses?: readonly unknown[] };
}

/** Whether an entry's hosts are to have addresses that its author has not written. */
export const takesAddresses = ({ meta, spec }: AddressWish): boolean =>
  (spec.resolution ?? "NONE") !== "NONE" && (spec.addresses ?? []).length === 0 && meta.labels[optOutLabel] !== "false";

/** Addresses that an entry has, from whomever. */
export const addressesOf = ({ spec, status }: Config<ServiceEntry>): readonly string[] => [
  ...(spec.addresses ?? []),
  ...statusAddresses(status).map(({ value }) => value),
];

/** The addresses in the status of an entry. */
export const statusAddresses = (status: unknown): readonly StatusAddress[] =>
  listOf(fieldsOf(status).addresses).map((entry) => ({
    host: textOf(fieldsOf(entry).host),
    value: textOf(fieldsOf(entry).value),
  }));

/** Addresses that were given to hosts of an entry which have none. @param given by `namespace/host` */
export function allocatedTo(
  config: Config<ServiceEntry>,
  given: ReadonlyMap<string, readonly string[]>,
): readonly StatusAddress[] {
  const { namespace } = keyOf(config);
  return hostsWithoutAddress(config).flatMap((host) =>
    (given.get(`${namespace}/${host}`) ?? []).map((value) => ({ host, value })),
  );
}

/** The objects of a world, entries with the addresses that were given to their hosts in their status, as Istio's controller writes them. */
export function withAllocatedAddresses(
  configs: readonly Config[],
  given: readonly AllocatedAddresses[],
  memo: Memo,
): readonly Config[] {
  if (given.length === 0) return configs;
  const byService = new Map(given.map(({ service, addresses }) => [service, addresses]));
  const changed = configs.map((config) => {
    if (!isOfKind(config, "ServiceEntry")) return config;
    const added = allocatedTo(config, byService);
    return added.length === 0 ? config : withStatus(memo, { config, added });
  });
  return keepList(memo, "objects with allocated addresses", changed);
}

const withStatus = query(
  "entry with allocated addresses",
  { added: "value" },
  ({ config, added }: { readonly config: Config<ServiceEntry>; readonly added: readonly StatusAddress[] }): Config => ({
    ...config,
    status: { ...fieldsOf(config.status), addresses: [...statusAddresses(config.status), ...added] },
  }),
);
