import { byCodePoint, type Stage } from "../../base/diagnostic.ts";
import type { ProxyBuildSetting } from "../../base/proxy-build.ts";
import type { Config } from "../../config/config.ts";
import { isLeftToProxies } from "../../config/kinds/remote-keys.ts";
import type { WantedLookups } from "../../config/kinds/resolved-facts.ts";
import type { ResolvedModule } from "../../config/kinds/wasm-module.ts";
import { isFqdn } from "../../config/rules/names.ts";
import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { keyHostNamespaces } from "../../mesh/hosts/key-host-namespaces.ts";
import { isOfKind } from "../../mesh/index/configs-by-kind.ts";
import { gatewayHosts } from "../../mesh/index/network-index.ts";
import type { Proxy } from "../../mesh/proxy/proxy.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import type { Service } from "../../registry/service.ts";
import { addressesOf, hostsWithoutAddress } from "./allocated-addresses.ts";
import { rulesOf } from "./resolved-keys.ts";
import { wantedModules } from "./wanted-modules.ts";

/** Addresses out of the ranges that hosts are given theirs from: 240.240.0.0/16 and 2001:2::/48. */
const isOfRanges = (address: string): boolean => address.startsWith("240.240.") || address.startsWith("2001:2::");

interface LookupInputs {
  /** As they were read, without what a resolver has added. */
  readonly configs: readonly Config[];
  readonly services: readonly Service[];
  readonly proxies: readonly Proxy[];
  readonly rootNamespace: string;
  /** Gateways between networks. */
  readonly gateways: readonly NetworkGateway[];
  /** Absent: `auto`. */
  readonly proxyBuild?: ProxyBuildSetting | undefined;
  /** What was fetched for it, and for others lately. */
  readonly modules: readonly ResolvedModule[];
}

/**
 * What a world wants a resolver to look up, or to give: key sets that nobody has written, unless their host is a service of the mesh, from
 * which proxies fetch them by themselves; code of extensions; addresses, where a proxy captures DNS: no other one would have a use for them;
 * and host names of gateways between networks.
 *
 * @returns undefined where there is nothing; a warning for each module that is not fetched since there are too many
 */
export function lookupsOf(
  { configs, services, proxies, rootNamespace, gateways, proxyBuild, modules }: LookupInputs,
  memo: Memo,
): Stage<WantedLookups | undefined> {
  const { keys, issuers, ...addresses } = askedBy(memo, { configs });
  const external = keys.length === 0 ? [] : externalUris(keys, services, rootNamespace);
  const isAsking = addresses.services.length > 0 && capturesDns(memo, { proxies });
  // Where all proxies are Istio's own, their agents fetch code.
  const wanted = proxyBuild === "istio" ? noModules : wantedModules(configs, services, rootNamespace, memo);
  const lists = {
    jwksUris: external,
    issuers,
    ...(isAsking ? addresses : {}),
    hosts: gatewayHosts(gateways).filter(isFqdn),
    modules: wanted.value,
    heldModules: sorted(modules.map(({ sha256 }) => sha256)),
  };
  const entries = Object.entries(lists).filter(([, list]) => list.length > 0);
  const { diagnostics } = wanted;
  return { value: entries.length === 0 ? undefined : internValue(memo, Object.fromEntries(entries)), diagnostics };
}

const noModules: ReturnType<typeof wantedModules> = { value: [], diagnostics: [] };

const capturesDns = query("whether a proxy captures DNS", ({ proxies }: { readonly proxies: readonly Proxy[] }) =>
  proxies.some(({ metadata }) => metadata.dnsCapture),
);

const askedBy = query(
  "what objects ask a resolver for",
  ({ configs }: { readonly configs: readonly Config[] }): Asked => {
    const rules = configs.flatMap((config) =>
      rulesOf(config).flatMap((rule) =>
        rule.jwks || isLeftToProxies(config, rule)
          ? []
          : [{ namespace: config.meta.namespace, jwksUri: rule.jwksUri, issuer: rule.issuer }],
      ),
    );
    const bounded = [...Map.groupBy(rules, ({ namespace }) => namespace).values()].flatMap(firstPlaces);
    const entries = configs.filter((config) => isOfKind(config, "ServiceEntry"));
    return {
      keys: bounded.flatMap(({ namespace, jwksUri }) => (jwksUri === undefined ? [] : [{ namespace, jwksUri }])),
      issuers: sorted(
        bounded.flatMap(({ jwksUri, issuer }) =>
          jwksUri === undefined && issuer !== undefined && URL.canParse(issuer) ? issuer : [],
        ),
      ),
      services: sorted(
        entries.flatMap((entry) => hostsWithoutAddress(entry).map((host) => `${entry.meta.namespace}/${host}`)),
      ),
      taken: sorted(entries.flatMap(addressesOf).filter(isOfRanges)),
    };
  },
);

interface KeyRuleAt {
  readonly namespace: string;
  readonly jwksUri?: string | undefined;
  readonly issuer?: string | undefined;
}

interface Asked extends Required<Pick<WantedLookups, "issuers" | "services" | "taken">> {
  readonly keys: readonly (KeyRuleAt & { readonly jwksUri: string })[];
}

/** So many key sets one namespace may want: it is not to use up the look-ups of all. */
const maxPlaces = 32;

/** The rules of one namespace whose keys stand in the first places, as many as it may have. */
function firstPlaces(rules: readonly KeyRuleAt[]): readonly KeyRuleAt[] {
  const places = sorted(rules.map(({ jwksUri, issuer = "" }) => jwksUri ?? issuer));
  if (places.length <= maxPlaces) return rules;
  const kept = new Set(places.slice(0, maxPlaces));
  return rules.filter(({ jwksUri, issuer = "" }) => kept.has(jwksUri ?? issuer));
}

/** Those whose host no service has that the proxies of the rule may fetch keys from. */
function externalUris(rules: Asked["keys"], services: readonly Service[], rootNamespace: string): readonly string[] {
  const hosts = new Set(rules.map(({ jwksUri }) => hostOf(jwksUri)));
  const known = new Set(
    services.flatMap(({ hostname, attributes }) =>
      hosts.has(hostname) ? [`${attributes.namespace}/${hostname}`] : [],
    ),
  );
  const isInMesh = ({ namespace, jwksUri }: Asked["keys"][number]): boolean => {
    const host = hostOf(jwksUri);
    return keyHostNamespaces(host, namespace, rootNamespace).some((one) => known.has(`${one}/${host}`));
  };
  return sorted(rules.flatMap((rule) => (isInMesh(rule) ? [] : rule.jwksUri)));
}

const hostOf = (uri: string): string => URL.parse(uri)?.hostname ?? "";

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort(byCodePoint);
