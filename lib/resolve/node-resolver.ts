import type { KeyServices } from "../secrets/wrapping-keys.ts";
import type { Trust } from "../snapshot/head/signatures.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { createDnsOverHttps } from "./dns-over-https.ts";
import { usualWithinMs } from "./fetch-text.ts";
import { pullSecrets } from "./modules/pull-secrets.ts";
import { createNodeDns } from "./node-dns.ts";
import { createNodeFetch } from "./node-fetch.ts";
import { createResolver, nothingResolved, type Resolver } from "./resolver.ts";
import { readResolverSettings } from "./resolver-settings.ts";

/**
 * The resolver of a process on Node or Lambda.
 *
 * @param env with `PORTOLAN_RESOLVER` and those that begin with it, and `PORTOLAN_SECRETS_KEY`
 * @param services keys that lie in a service; absent: a key that does is one that images cannot be pulled with
 * @returns one that looks up nothing where the settings say so
 * @throws PortolanError for a setting that says what it cannot
 */
export function createNodeResolver(
  store: ObjectStore,
  env: Readonly<Record<string, string | undefined>>,
  trust: Trust,
  services?: KeyServices,
): Resolver {
  const rules = readResolverSettings(
    {
      RESOLVER: env.PORTOLAN_RESOLVER,
      RESOLVER_ALLOWED_HOSTS: env.PORTOLAN_RESOLVER_ALLOWED_HOSTS,
      RESOLVER_DNS_SERVERS: env.PORTOLAN_RESOLVER_DNS_SERVERS,
      RESOLVER_DNS_OVER_HTTPS: env.PORTOLAN_RESOLVER_DNS_OVER_HTTPS,
    },
    "PORTOLAN_",
  );
  if (rules === undefined) return async () => nothingResolved;
  const { allowedHosts, dnsServers, dnsOverHttps } = rules;
  const { PORTOLAN_RESOLVER_CA_BUNDLE: caBundle = "" } = env;
  const trusted = caBundle === "" ? {} : { caBundle };
  const fetch = createNodeFetch({ allowedHosts, ...trusted });
  const askDns =
    dnsOverHttps === undefined
      ? createNodeDns(dnsServers)
      : createDnsOverHttps((hosts) => createNodeFetch({ allowedHosts: hosts, ...trusted }), dnsOverHttps);
  return createResolver({
    store,
    fetch,
    askDns,
    allowedHosts,
    withinMs: usualWithinMs,
    now: Date.now,
    trust,
    ...pullSecrets(store, env.PORTOLAN_SECRETS_KEY, "PORTOLAN_SECRETS_KEY", services),
  });
}
