/** Authentication policies and RBAC of Istio up to 1.5. */
import type { Dice } from "./dice.ts";
import { keySet } from "./policies.ts";
import {
  type Manifest,
  manifest,
  namespaces,
  ports,
  serviceHost,
  serviceNames,
  workloadNamespaces,
} from "./vocabulary.ts";

const authentication = "authentication.istio.io/v1alpha1";
const rbac = "rbac.istio.io/v1alpha1";
const roleNames = ["reader", "writer"] as const;

export function randomAuthenticationPolicy(dice: Dice, name: string): Manifest {
  const targeted = dice.chance(60);
  return manifest(dice, [authentication, "Policy"], [dice.pick(namespaces), targeted ? name : "default"], {
    spec: {
      ...(targeted ? { targets: dice.some(serviceNames, 1, 2).map((target) => randomTarget(dice, target)) } : {}),
      ...methods(dice),
    },
  });
}

export function randomMeshPolicy(dice: Dice): Manifest {
  return manifest(dice, [authentication, "MeshPolicy"], ["istio-system", "default"], { spec: methods(dice) });
}

const randomTarget = (dice: Dice, name: string): object => ({
  name: dice.chance(90) ? name : "nobody",
  ...dice.maybe(40, () => ({
    ports: dice.some(ports, 1, 2).map((number) => (dice.chance(70) ? { number } : { name: `http-${number}` })),
  })),
  ...dice.maybe(5, () => ({ subset: "v1" })),
});

const methods = (dice: Dice): object => ({
  ...dice.maybe(70, () => ({
    peers: [
      dice.pick([{ mtls: {} }, { mtls: null }, { mtls: { mode: "PERMISSIVE" } }, { mtls: { allowTls: true } }]),
      ...(dice.chance(10) ? [{ jwt: jwt(dice, "https://peer.example.com") }] : []),
    ],
  })),
  ...dice.maybe(50, () => ({
    origins: dice
      .some(["https://one.example.com", "https://two.example.com", "three", "*"], 1, 2)
      .map((issuer) => ({ jwt: jwt(dice, issuer) })),
  })),
  ...dice.maybe(20, () => ({ originIsOptional: true })),
  ...dice.maybe(15, () => ({ peerIsOptional: true })),
  ...dice.maybe(40, () => ({ principalBinding: "USE_ORIGIN" })),
});

const jwt = (dice: Dice, issuer: string): object => ({
  issuer,
  ...dice.pick([{ jwks: keySet }, { jwksUri: "https://www.example.com/jwks" }, {}]),
  ...dice.maybe(30, () => ({ audiences: ["me"] })),
  ...dice.maybe(20, () => ({ jwtHeaders: ["x-jwt"], jwtParams: ["token"] })),
  ...dice.maybe(40, () => ({
    triggerRules: dice.list(1, 2, () => ({
      ...dice.maybe(60, () => ({ includedPaths: dice.list(1, 2, () => pathMatch(dice)) })),
      ...dice.maybe(60, () => ({ excludedPaths: dice.list(1, 2, () => pathMatch(dice)) })),
    })),
  })),
});

const pathMatch = (dice: Dice): object =>
  dice.pick([
    { exact: "/health" },
    { prefix: "/status/" },
    { suffix: ".png" },
    { regex: "/v[0-9]+/.*" },
    { prefix: "" },
  ]);

export function randomClusterRbacConfig(dice: Dice): Manifest {
  const kind = dice.chance(80) ? "ClusterRbacConfig" : "RbacConfig";
  const target = { services: [serviceHost(dice)], ...dice.maybe(50, () => ({ namespaces: [dice.pick(namespaces)] })) };
  const mode = dice.pick(["OFF", "ON", "ON", "ON_WITH_INCLUSION", "ON_WITH_EXCLUSION"]);
  return manifest(dice, [rbac, kind], ["istio-system", "default"], {
    spec: {
      mode,
      inclusion: target,
      exclusion: target,
      ...dice.maybe(15, () => ({ enforcementMode: "PERMISSIVE" })),
    },
  });
}

export function randomServiceRole(dice: Dice): Manifest {
  return manifest(dice, [rbac, "ServiceRole"], [dice.pick(workloadNamespaces), dice.pick(roleNames)], {
    spec: { rules: dice.list(1, 3, () => accessRule(dice)) },
  });
}

const accessRule = (dice: Dice): object => ({
  services: dice.pick([["*"], [serviceHost(dice)], ["a.*"], ["*.ns1.svc.cluster.local", "b.*"]]),
  ...dice.maybe(60, () => ({ methods: dice.pick([["GET"], ["*"], ["P*", "*LETE"]]) })),
  ...dice.maybe(50, () => ({ paths: dice.pick([["/a/*"], ["*.html", "/exact"], ["*"], ["/x/{*}"]]) })),
  ...dice.maybe(20, () => dice.pick([{ notPaths: ["/secret*"] }, { hosts: ["*.com"] }, { notHosts: ["x.*"] }])),
  ...dice.maybe(20, () => dice.pick([{ ports: [8080] }, { notPorts: [8080] }])),
  ...dice.maybe(50, () => ({
    constraints: dice.some(
      [
        { key: "destination.labels[version]", values: ["v1", "v2*"] },
        { key: "destination.user", values: ["*"] },
        { key: "destination.name", values: ["a", "b"] },
        { key: "destination.ip", values: ["10.0.0.0/8", "1.2.3.4"] },
        { key: "destination.port", values: ["8080"] },
        { key: "connection.sni", values: ["*.example.com"] },
        { key: "request.headers[x-token]", values: ["abc", "*"] },
        { key: "experimental.envoy.filters.network.mysql_proxy[db.table]", values: ["[update]"] },
        { key: "nonsense", values: ["x"] },
      ],
      1,
      2,
    ),
  })),
});

export function randomServiceRoleBinding(dice: Dice, name: string): Manifest {
  return manifest(dice, [rbac, "ServiceRoleBinding"], [dice.pick(workloadNamespaces), name], {
    spec: {
      subjects: dice.list(1, 3, () => subject(dice)),
      roleRef: { kind: "ServiceRole", name: dice.pick(roleNames) },
      ...dice.maybe(15, () => ({ mode: "PERMISSIVE" })),
    },
  });
}

const subject = (dice: Dice): object =>
  dice.pick([
    { user: dice.pick(["*", "allAuthenticatedUsers", "cluster.local/ns/ns1/sa/a"]) },
    { user: "cluster.local/ns/ns1/*", group: "admins", properties: { "source.namespace": "ns*" } },
    { names: ["*/sa/a", "cluster.local/ns/ns2/sa/b"], notNames: ["cluster.local/ns/ns1/sa/a"] },
    { groups: ["one", "two*"], notGroups: ["three"] },
    { namespaces: ["ns1"], notNamespaces: ["ns2"], ips: ["10.0.0.0/8"], notIps: ["10.1.0.0/16", "fd00::1"] },
    { ips: ["nowhere"] },
    { properties: { "request.auth.principal": "three/me", "source.ip": "10.0.0.1" } },
    { properties: { "request.headers[x-y]": "*", "request.auth.claims[a]": "b", "request.auth.audiences": "me" } },
    { properties: { "what.ever": "x" } },
  ]);
