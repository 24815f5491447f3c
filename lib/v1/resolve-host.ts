import type { ConfigMeta } from "../config/config.ts";
import type { IstioService } from "../config/kinds/legacy/istio-service.ts";

/** The host that a service reference means: `service` verbatim, else the parts, empty ones left out with their dots. */
export function resolveHost(meta: Pick<ConfigMeta, "namespace" | "domain">, reference: IstioService): string {
  if (reference.service !== undefined && reference.service !== "") return reference.service;
  const namespace = reference.namespace || meta.namespace;
  const domain = reference.domain || (meta.domain === "" ? "" : `svc.${meta.domain}`);
  return [reference.name ?? "", namespace, domain].filter((part) => part !== "").join(".");
}
