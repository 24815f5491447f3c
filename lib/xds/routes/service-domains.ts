import { serviceAddresses, unspecifiedAddress } from "../../mesh/hosts/service-address.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
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

/** How one proxy sees services, and how it sees those that have no host in its own namespace: as all other namespaces do. */
export interface DomainPerspectives {
  /** Of Kubernetes, as hosts spell it: `.shop.svc.`; empty for a proxy outside, which has none. */
  readonly namespace: string;
  readonly atHome: DomainPerspective;
  readonly abroad: DomainPerspective;
}

export function domainPerspectives(
  { dnsDomain, clusterId, ipMode, autoAllocatedAddresses }: DomainPerspective,
  memo: Memo,
): DomainPerspectives {
  return perspectivesOf(memo, { dnsDomain, clusterId, ipMode, autoAllocatedAddresses });
}

const perspectivesOf = step(
  "domain perspectives",
  { dnsDomain: "value", clusterId: "value", ipMode: "value", autoAllocatedAddresses: "value" },
  (atHome: DomainPerspective, memo: Memo): DomainPerspectives => {
    const { dnsDomain } = atHome;
    const service = dnsDomain.indexOf(".svc.");
    if (service <= 0) return { namespace: "", atHome, abroad: atHome };
    const namespace = `.${dnsDomain.slice(0, service)}.svc.`;
    return { namespace, atHome, abroad: onePerspective(memo, { ...atHome, dnsDomain: dnsDomain.slice(service) }) };
  },
);

/** One object for all namespaces. */
const onePerspective = step(
  "domain perspective",
  { dnsDomain: "value", clusterId: "value", ipMode: "value", autoAllocatedAddresses: "value" },
  (perspective: DomainPerspective) => perspective,
);

interface Inputs {
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
export function serviceDomains(
  memo: Memo,
  { proxy, ...inputs }: Inputs & { readonly proxy: DomainPerspectives },
): ServiceDomains {
  const isAtHome = hasHostIn(inputs.service, proxy.namespace);
  return domainsSeen(memo, { proxy: isAtHome ? proxy.atHome : proxy.abroad, ...inputs });
}

/** @param namespace as of `DomainPerspectives` */
const hasHostIn = ({ hostname, attributes: { aliases } }: Service, namespace: string): boolean =>
  hostname.toLowerCase().includes(namespace) || aliases.some((alias) => alias.hostname.includes(namespace));

interface SeenFrom extends Inputs {
  readonly proxy: DomainPerspective;
}

const domainsSeen = step(
  "domains of a service",
  { proxy: "identity", service: "identity", portSuffix: "value" },
  (inputs: SeenFrom): ServiceDomains => ({ service: inputs.service, ...domainsOf(inputs) }),
);

function domainsOf({ proxy, service, portSuffix }: SeenFrom): Domains {
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
  if (service >= 0) {
    if (!host.endsWith(dnsDomain.slice(service))) return [];
    return kubernetesShortForms(host, dnsDomain.slice(0, service));
  }
  return sharedSuffixForms(host, dnsDomain);
}

/** `name.ns.svc.suffix` for a proxy in `namespace`, which is empty abroad: the bare name is for its own namespace only. */
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
