import { serviceAddresses, unspecifiedAddress } from "../../mesh/hosts/service-address.ts";
import { step } from "../../mesh/memo/step.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";
import { bracketed, virtualHostName } from "../names.ts";

/** Domains of a virtual host, in order, and which of them are short or otherwise derived forms of a host name. */
export interface Domains {
  readonly all: readonly string[];
  /** Parallel to `all`, in lower case: two domains with one key exclude each other. */
  readonly keys: readonly string[];
  /** Parallel to `all`: whether it gives way to a service that really has the name. */
  readonly derived: readonly boolean[];
}

export interface ServiceDomains extends Domains {
  readonly service: Service;
}

/** What the domains of a service depend on beside the service. */
export type DomainPerspective = Pick<ClassProxy, "dnsDomain" | "clusterId" | "ipMode" | "autoAllocatedAddresses">;

interface Inputs {
  readonly proxy: DomainPerspective;
  readonly service: Service;
  /** Each domain is there twice, plain and with this port; undefined: ports are ignored when Envoy compares. */
  readonly portSuffix: number | undefined;
}

/**
 * The domains under which a service is asked for: its host and its aliases, each with their derived forms, a wildcard before
 * each for headless services of Kubernetes, and last its addresses.
 *
 * @see docs/how-istio-does-it/routes.md#domains-of-a-service
 */
export const serviceDomains = step(
  "domains of a service",
  { proxy: "identity", service: "identity", portSuffix: "value" },
  (inputs: Inputs): ServiceDomains => ({ service: inputs.service, ...domainsOf(inputs) }),
);

function domainsOf({ proxy, service, portSuffix }: Inputs): Domains {
  const all: string[] = [];
  const derived: boolean[] = [];
  const add = (domain: string, isDerived: boolean): void => {
    all.push(bracketed(domain));
    derived.push(isDerived);
    if (portSuffix === undefined) return;
    all.push(virtualHostName(domain, portSuffix));
    derived.push(isDerived);
  };
  const addHost = (host: string): void => {
    add(host, false);
    for (const alternate of alternateHosts(host, proxy.dnsDomain)) add(alternate, true);
  };
  addHost(service.hostname.toLowerCase());
  for (const alias of service.attributes.aliases) addHost(alias.hostname);
  if (service.resolution === "Passthrough" && service.attributes.provider === "Kubernetes") {
    for (const domain of all.slice()) {
      all.push(`*.${domain}`);
      derived.push(false);
    }
  }
  for (const address of serviceAddresses(service, proxy)) {
    if (address !== "" && address !== unspecifiedAddress) add(address, false);
  }
  return { all, keys: all.map((domain) => domain.toLowerCase()), derived };
}

/** Other names for a host: absolute, and the short forms that the proxy's own DNS domain completes. */
export function alternateHosts(host: string, dnsDomain: string): readonly string[] {
  const absolute = isAddress(host) ? [] : [`${host}.`];
  return [...absolute, ...shortForms(host, dnsDomain)];
}

function shortForms(host: string, dnsDomain: string): readonly string[] {
  const service = dnsDomain.indexOf(".svc.");
  if (service > 0) {
    if (!host.endsWith(dnsDomain.slice(service))) return [];
    return kubernetesShortForms(host, dnsDomain.slice(0, service));
  }
  return sharedSuffixForms(host, dnsDomain);
}

/** `name.ns.svc.suffix` for a proxy in `namespace`: the bare name is for its own namespace only. */
function kubernetesShortForms(host: string, namespace: string): readonly string[] {
  const end = host.indexOf(".svc.");
  const dot = host.indexOf(".");
  if (end <= 0 || dot >= end) return [];
  const qualified = host.slice(0, end);
  return host.slice(dot + 1, end) === namespace
    ? [host.slice(0, dot), `${qualified}.svc`, qualified]
    : [qualified, `${qualified}.svc`];
}

/** Outside Kubernetes: what is left of the host when the suffix that it shares with the proxy's domain is cut off. */
function sharedSuffixForms(host: string, dnsDomain: string): readonly string[] {
  const hostLabels = host.split(".");
  const domainLabels = dnsDomain.split(".");
  let shared = 0;
  while (
    shared < Math.min(hostLabels.length, domainLabels.length) &&
    hostLabels.at(-1 - shared) === domainLabels.at(-1 - shared)
  ) {
    shared++;
  }
  if (shared === 0) return [];
  const unique = hostLabels.slice(0, hostLabels.length - shared);
  const short = unique.join(".");
  return unique.length === 2 ? [short, `${short}.${hostLabels[unique.length] ?? ""}`] : [short];
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}
