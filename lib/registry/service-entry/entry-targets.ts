import type { ProxyQuery } from "../proxy-query.ts";
import type { Endpoint, ServiceTarget } from "../service.ts";
import { entryEndpoints, selectedWorkloads } from "./convert-endpoints.ts";
import type { EntryIndex, EntryRecord } from "./entry-index.ts";
import type { SelectableWorkload } from "./workload.ts";

function targetsOf(record: EntryRecord, endpoints: readonly Endpoint[]): readonly ServiceTarget[] {
  return record.services.flatMap((service) =>
    endpoints.flatMap((endpoint) => {
      const servicePort = service.ports.find((port) => port.port === endpoint.servicePortNumber);
      return servicePort === undefined ? [] : [{ service, servicePort, targetPort: endpoint.port }];
    }),
  );
}

const isServed = ({ services }: EntryRecord): boolean => services.every(({ attributes }) => !attributes.routesOnly);

/**
 * The ServiceEntries of its namespace that name a proxy's address or select its workload.
 *
 * @param workloadsAt gives the WorkloadEntries and pods of the proxy's namespace at its addresses
 * @see docs/how-istio-does-it/service-entries.md#services-of-a-workload
 */
export function entryTargets(
  index: EntryIndex,
  proxy: ProxyQuery,
  workloadsAt: () => readonly SelectableWorkload[],
): readonly ServiceTarget[] {
  const { settings } = index;
  const near = (index.byNamespace.get(proxy.namespace) ?? []).filter(isServed);
  if (near.length === 0) return [];
  const inline = new Set(
    proxy.addresses
      .flatMap((address) => index.inlineByAddress.get(address) ?? [])
      .filter((record) => record.config.meta.namespace === proxy.namespace),
  );
  const byAddress = [...inline].flatMap((record) =>
    targetsOf(
      record,
      entryEndpoints(record.config, [], settings).filter(({ addresses }) =>
        addresses.some((address) => proxy.addresses.includes(address)),
      ),
    ),
  );
  const workloads = workloadsAt();
  if (workloads.length === 0) return byAddress;
  const selecting = near.flatMap((record) => {
    const selected = selectedWorkloads(record.config, workloads);
    return selected.length === 0 ? [] : targetsOf(record, entryEndpoints(record.config, selected, settings));
  });
  return [...byAddress, ...selecting];
}
