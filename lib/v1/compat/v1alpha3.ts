import type { Config } from "../../config/config.ts";
import type { DestinationRule } from "../../config/kinds/destination-rule.ts";
import type { VirtualService } from "../../config/kinds/virtual-service.ts";
import type { Labels } from "../../legacy/service-key.ts";
import type { LegacyInstance, V1Alpha3Configs } from "../legacy-world.ts";

/** A short name is completed with the domain of the proxy that asks, not with the namespace of the object. */
export function fullName(host: string, domain: string): string {
  return domain === "" || host.includes(".") ? host : `${host}.${domain}`;
}

/** Virtual services for a host; whatever gateways they name. */
export function virtualServicesFor(
  configs: V1Alpha3Configs | undefined,
  hostname: string,
  domain: string,
): readonly Config<VirtualService>[] {
  return (configs?.virtualServices ?? []).filter(({ spec }) =>
    spec.hosts.some((host) => fullName(host, domain) === hostname),
  );
}

/** The first virtual service for any of the workload's own services. */
export function virtualServiceServedBy(
  configs: V1Alpha3Configs | undefined,
  instances: readonly LegacyInstance[],
  domain: string,
): Config<VirtualService> | undefined {
  return configs?.virtualServices.find(({ spec }) =>
    spec.hosts.some((host) => instances.some(({ service }) => service.hostname === fullName(host, domain))),
  );
}

/** The first rule for a host. */
export function destinationRuleFor(
  configs: V1Alpha3Configs | undefined,
  hostname: string,
  domain: string,
): DestinationRule | undefined {
  return configs?.destinationRules.find(({ spec }) => fullName(spec.host, domain) === hostname)?.spec;
}

/** Labels of a subset; undefined where no subset is asked for or none has the name. */
export function subsetLabels(
  configs: V1Alpha3Configs | undefined,
  hostname: string,
  subset: string | undefined,
  domain: string,
): Labels | undefined {
  if (subset === undefined || subset === "") return undefined;
  const found = destinationRuleFor(configs, hostname, domain)?.subsets?.find(({ name }) => name === subset);
  return found && (found.labels ?? {});
}
