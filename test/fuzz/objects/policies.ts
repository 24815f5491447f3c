import type { Dice } from "./dice.ts";
import {
  labels,
  type Manifest,
  manifest,
  namespaces,
  policyTarget,
  providerNames,
  workloadNamespaces,
} from "./vocabulary.ts";

const mtls = (dice: Dice): object => ({ mode: dice.pick(["UNSET", "DISABLE", "PERMISSIVE", "STRICT"]) });

export function randomPeerAuthentication(dice: Dice, name: string): Manifest {
  const selected = dice.chance(40);
  const namespace = selected ? dice.pick(workloadNamespaces) : dice.pick(namespaces);
  return manifest(dice, ["security.istio.io/v1", "PeerAuthentication"], [namespace, selected ? name : "default"], {
    spec: {
      ...(selected ? { selector: { matchLabels: labels(dice) } } : {}),
      ...dice.maybe(80, () => ({ mtls: mtls(dice) })),
      ...(selected
        ? dice.maybe(50, () => ({
            portLevelMtls: Object.fromEntries(
              dice.some([8080, 8090, 9000, 80, 16080], 1, 3).map((p) => [p, mtls(dice)]),
            ),
          }))
        : {}),
    },
  });
}

export function randomAuthorizationPolicy(dice: Dice, name: string): Manifest {
  const action = dice.pick(["ALLOW", "DENY", "AUDIT", "CUSTOM"]);
  return manifest(
    dice,
    ["security.istio.io/v1", "AuthorizationPolicy"],
    [dice.pick(namespaces), name],
    {
      spec: {
        ...policyTarget(dice),
        action,
        ...(action === "CUSTOM" ? { provider: { name: dice.pick([...providerNames.authorization, "nobody"]) } } : {}),
        ...dice.maybe(90, () => ({ rules: dice.list(1, 3, () => rule(dice, action)) })),
      },
    },
    { annotations: dice.maybe(15, () => ({ "istio.io/dry-run": "true" })) },
  );
}

function rule(dice: Dice, action: string): object {
  const identities = action === "CUSTOM" ? {} : identitySource(dice);
  return {
    ...dice.maybe(60, () => ({ from: dice.list(1, 2, () => ({ source: { ...addressSource(dice), ...identities } })) })),
    ...dice.maybe(60, () => ({ to: dice.list(1, 2, () => ({ operation: operation(dice) })) })),
    ...dice.maybe(50, () => ({ when: dice.list(1, 2, () => condition(dice)) })),
  };
}

const patterns = (dice: Dice, base: string): readonly string[] => dice.some([base, `${base}*`, `*${base}`, "*"], 1, 2);

const addressSource = (dice: Dice): object =>
  dice.pick([
    { ipBlocks: ["10.0.0.0/8", "1.2.3.4"] },
    { notIpBlocks: ["2001:db8::/32"] },
    { remoteIpBlocks: ["10.0.0.0/8"], notRemoteIpBlocks: ["10.1.0.0/16"] },
  ]);

const identitySource = (dice: Dice): object =>
  dice.pick([
    {},
    { principals: patterns(dice, "cluster.local/ns/ns1/sa/a") },
    { notPrincipals: patterns(dice, "cluster.local/ns/ns1/sa/a") },
    { requestPrincipals: patterns(dice, "issuer/subject") },
    { notRequestPrincipals: ["*"] },
    { namespaces: patterns(dice, "ns1"), notNamespaces: ["ns2"] },
    { serviceAccounts: ["ns1/a", "b"] },
    { trustDomains: ["cluster.local", "old.example.com"], notTrustDomains: ["*.example.com"] },
    { principals: ["*", "*/ns/ns1/*"], notPrincipals: ["old.example.com/ns/ns1/sa/a"] },
    { notRequestPrincipals: ["issuer/*"], requestPrincipals: ["https://one.example.com/*", "*/subject"] },
    { notNamespaces: ["ns*"], notServiceAccounts: ["ns2/b"] },
  ]);

const operation = (dice: Dice): object =>
  dice.pick([
    { hosts: patterns(dice, "www.example.com") },
    { notHosts: ["*.example.com"], methods: ["GET"] },
    { ports: ["80", "8080"] },
    { notPorts: ["443"], paths: ["/public*"] },
    { methods: patterns(dice, "GET"), notMethods: ["DELETE"] },
    { paths: patterns(dice, "/admin") },
    { paths: ["/a/{*}/b", "/c/{**}"], notPaths: ["/a/x/b"] },
    { hosts: ["www.example.com:80", "*"], notHosts: ["API.example.com", "api.*"], notPaths: ["*/x", "*"] },
    { methods: ["*"], paths: ["*"], ports: ["80"], hosts: ["*"] },
  ]);

const conditionKeys: readonly (readonly [key: string, value: string])[] = [
  ["request.headers[x-token]", "abc"],
  ["request.headers[:Authority]", "*.example.com"],
  ["request.headers[x-any]", "*"],
  ["request.regex.headers[x-r]", "a.*b"],
  ["source.serviceAccount", "ns1/a"],
  ["source.trustDomain", "cluster.local"],
  ["request.auth.claims[iss]", "*suffix"],
  ["request.auth.claims[a.b]", "*"],
  ["request.auth.claims[@odd]", "prefix*"],
  ["request.auth.principal", "*"],
  ["source.ip", "10.0.0.0/8"],
  ["remote.ip", "10.0.0.1"],
  ["source.namespace", "ns1"],
  ["source.principal", "cluster.local/ns/ns1/sa/a"],
  ["request.auth.principal", "issuer/subject"],
  ["request.auth.audiences", "me"],
  ["request.auth.presenter", "you"],
  ["request.auth.claims[groups]", "admin"],
  ["request.auth.claims[nested][deep]", "yes"],
  ["destination.ip", "10.0.0.0/8"],
  ["destination.port", "80"],
  ["connection.sni", "www.example.com"],
  ["experimental.envoy.filters.network.mysql_proxy[db.table]", "[update]"],
];

function condition(dice: Dice): object {
  const [key, value] = dice.pick(conditionKeys);
  if (dice.chance(10)) return { key, values: [value], notValues: [value] };
  return { key, ...(dice.chance(75) ? { values: [value] } : { notValues: [value] }) };
}

export const keySet = JSON.stringify({
  keys: [
    {
      kty: "RSA",
      kid: "k",
      e: "AQAB",
      n: "xAE7eB6qugXyCAG3yhh7pkDkT65pHymX-P7KfIupjf59vsdo91bSP9C8H07pSAGQO1MV_xFj9VswgsCg4R6otmg5PV2He95lZdHtOcU5DXIg_pbhLdKXbi66GlVeK6ABZOUW3WYtnNHD-91gVuoeJT_DwtGGcp4ignkgXfkiEm4sw-4sfb4qdt5oLbyVpmW6x9cfa7vs2WTfURiCrBoUqgBo_-4WTiULmmHSGZHOjzwa8WtrtOQGsAFjIbno85jp6MnGGGZPYZbDAa_b3y5u-YpW7ypZrvD8BgtKVjgtQgZhLAGezMt0ua3DRrWnKqTZ0BJ_EyxOGuHJrLsn00fnMQ",
    },
  ],
});

export function randomRequestAuthentication(dice: Dice, name: string): Manifest {
  return manifest(dice, ["security.istio.io/v1", "RequestAuthentication"], [dice.pick(namespaces), name], {
    spec: {
      ...policyTarget(dice),
      jwtRules: dice.some(["https://one.example.com", "https://two.example.com", "three"], 1, 2).map((issuer) => ({
        issuer,
        ...dice.pick([
          { jwks: keySet },
          { jwks: keySet, jwksUri: "https://www.example.com/jwks" },
          { jwksUri: "https://www.example.com/jwks" },
          { jwksUri: "http://a.ns1.svc.cluster.local:80/keys" },
          {},
        ]),
        ...dice.maybe(40, () => ({ audiences: ["me", "you"] })),
        ...dice.maybe(30, () => ({ fromHeaders: [{ name: "x-jwt", prefix: "Bearer " }, { name: "x-plain" }] })),
        ...dice.maybe(10, () => ({ fromHeaders: [{ name: "Authorization", prefix: "Token " }] })),
        ...dice.maybe(20, () => ({ fromParams: ["token", "t"] })),
        ...dice.maybe(20, () => ({ fromCookies: ["session", "id"] })),
        ...dice.maybe(30, () => ({ outputPayloadToHeader: "x-payload" })),
        ...dice.maybe(40, () => ({ forwardOriginalToken: dice.chance(50) })),
        ...dice.maybe(30, () => ({
          outputClaimToHeaders: [
            { header: "x-sub", claim: "sub" },
            { header: "x-n", claim: "a.b" },
          ],
        })),
        ...dice.maybe(20, () => ({ timeout: "3s" })),
        ...dice.maybe(15, () => ({ spaceDelimitedClaims: ["scope2", "scope"] })),
      })),
    },
  });
}
