import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { serviceAddresses, unspecifiedAddress } from "../../mesh/hosts/service-address.ts";
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
  /** What proxies of other namespaces have for the same host, where this has short names of its own namespace. */
  readonly elsewhere?: Domains;
}

export interface ServiceDomains extends Domains {
  readonly service: Service;
}

/** What the domains of a service depend on beside the service. */
export type DomainPerspective = Pick<ClassProxy, "dnsDomain" | "clusterId" | "ipMode" | "autoAllocatedAddresses">;

/** The perspectives of one proxy: for services with a host in its own namespace, and for all others. */
export interface DomainPerspectives {
  /** Of Kubernetes, as hosts spell it: `.shop.svc.`; empty for a proxy outside, which has none. */
  readonly namespace: string;
  readonly sameNamespace: DomainPerspective;
  readonly otherNamespaces: DomainPerspective;
}

export function domainPerspectives(proxy: DomainPerspective, memo: Memo): DomainPerspectives {
  const { dnsDomain, clusterId, ipMode, autoAllocatedAddresses } = proxy;
  return perspectivesOf(memo, { dnsDomain, clusterId, ipMode, autoAllocatedAddresses });
}

const perspectivesOf = query(
  "domain perspectives",
  (sameNamespace: DomainPerspective, memo: Memo): DomainPerspectives => {
    const { dnsDomain } = sameNamespace;
    const service = dnsDomain.indexOf(".svc.");
    if (service <= 0) return { namespace: "", sameNamespace, otherNamespaces: sameNamespace };
    const namespace = `.${dnsDomain.slice(0, service)}.svc.`;
    // One object for all namespaces.
    return {
      namespace,
      sameNamespace,
      otherNamespaces: internValue(memo, { ...sameNamespace, dnsDomain: dnsDomain.slice(service) }),
    };
  },
);

/** Which of the two perspectives applies to a service. */
export const seenAs = (
  service: Service,
  { namespace, sameNamespace, otherNamespaces }: DomainPerspectives,
): DomainPerspective =>
  sameNamespace === otherNamespaces || hasHostIn(service, namespace) ? sameNamespace : otherNamespaces;

/** One object for all namespaces that contain none of the services' hosts. */
export const seenOf = (services: readonly Service[], domains: DomainPerspectives, memo: Memo): DomainPerspectives =>
  services.every((service) => seenAs(service, domains) === domains.otherNamespaces)
    ? forOtherNamespaces(memo, { otherNamespaces: domains.otherNamespaces })
    : domains;

const forOtherNamespaces = query(
  "domain perspectives from abroad",
  ({ otherNamespaces }: Pick<DomainPerspectives, "otherNamespaces">): DomainPerspectives => ({
    namespace: "",
    sameNamespace: otherNamespaces,
    otherNamespaces,
  }),
);

/** @param namespace as of `DomainPerspectives` */
const hasHostIn = ({ hostname, attributes: { aliases } }: Service, namespace: string): boolean =>
  hostname.toLowerCase().includes(namespace) || aliases.some((alias) => alias.hostname.includes(namespace));

/** What the domains of a service are made from. */
export interface DomainInputs {
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
export const serviceDomains = (
  memo: Memo,
  { proxy, service, portSuffix }: Omit<DomainInputs, "proxy"> & { readonly proxy: DomainPerspectives },
): ServiceDomains => {
  const { sameNamespace, otherNamespaces } = proxy;
  return seenAs(service, proxy) === otherNamespaces
    ? domainsSeen(memo, { proxy: otherNamespaces, service, portSuffix })
    : domainsInSameNamespace(memo, { sameNamespace, otherNamespaces, service, portSuffix });
};

interface SameNamespaceInputs
  extends Omit<DomainInputs, "proxy">,
    Pick<DomainPerspectives, "sameNamespace" | "otherNamespaces"> {}

const domainsInSameNamespace = query(
  "domains of a service in its own namespace",
  ({ sameNamespace, otherNamespaces, service, portSuffix }: SameNamespaceInputs, memo: Memo): ServiceDomains => ({
    service,
    ...makeDomains({ proxy: sameNamespace, service, portSuffix }),
    elsewhere: domainsSeen(memo, { proxy: otherNamespaces, service, portSuffix }),
  }),
);

const domainsSeen = query(
  "domains of a service",
  (inputs: DomainInputs): ServiceDomains => ({ service: inputs.service, ...makeDomains(inputs) }),
);

/** The domains of a service, made anew. */
export function makeDomains({ proxy, service, portSuffix }: DomainInputs): Domains {
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
  const { provider, aliases } = service.attributes;
  addHost(service.hostname.toLowerCase());
  for (const alias of aliases) addHost(alias.hostname);
  if (service.resolution === "Passthrough" && provider === "Kubernetes") {
    for (const domain of all.slice()) {
      all.push(`*.${domain}`);
      derived.push(false);
    }
  }
  const addresses = serviceAddresses(service, proxy);
  for (const address of addresses) {
    if (address !== "" && address !== unspecifiedAddress) add(address, false);
  }
  // Whatever is made of a name in lower case is in lower case.
  const isLower = aliases.every(({ hostname }) => isLowerCase(hostname)) && addresses.every(isLowerCase);
  const keys = isLower ? all : all.map((domain) => domain.toLowerCase());
  return { all, keys, derived };
}

const isLowerCase = (text: string): boolean => text === text.toLowerCase();

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

/** `name.ns.svc.suffix` for a proxy in `namespace`, which is empty for other namespaces: the bare name is for its own namespace only. */
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
  const shared = sharedSuffix(host, dnsDomain);
  if (shared === "") return [];
  const short = host.slice(0, Math.max(0, host.length - shared.length - 1));
  const dot = short.indexOf(".");
  return dot !== -1 && !short.includes(".", dot + 1) ? [short, `${short}.${firstLabel(shared)}`] : [short];
}

/** The labels with which both names end, from right to left as long as they are the same. */
function sharedSuffix(host: string, domain: string): string {
  let shared = "";
  for (let end = host.length; end > 0; ) {
    const start = host.lastIndexOf(".", end - 1) + 1;
    const suffix = host.slice(start);
    if (domain !== suffix && !domain.endsWith(`.${suffix}`)) break;
    shared = suffix;
    end = start - 1;
  }
  return shared;
}

function firstLabel(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? name : name.slice(0, dot);
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}
