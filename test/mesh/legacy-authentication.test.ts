import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Config } from "../../lib/config/config.ts";
import type {
  AuthenticationPolicy,
  LegacyJwt,
  PathMatch,
  TriggerRule,
} from "../../lib/config/kinds/legacy/authentication-policy.ts";
import type { PeerAuthentication } from "../../lib/config/kinds/peer-authentication.ts";
import type { RequestAuthentication } from "../../lib/config/kinds/request-authentication.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { Endpoint } from "../../lib/registry/service.ts";
import { tcpAuthorization } from "../../lib/xds/security/authorization.ts";
import { jwtAuthentication } from "../../lib/xds/security/jwt-authentication.ts";
import { providerLookups } from "../../lib/xds/telemetry/provider-cluster.ts";
import { propertyRuns } from "../soak-options.ts";
import { endpoint } from "../xds/world-parts.ts";
import { type Asked, envoyAllows, requestOn } from "./envoy-rbac.ts";
import { envoyViewsOf } from "./envoy-views.ts";
import { config, service, sidecar, type WorldParts, world } from "./parts.ts";

const host = (name: string) => `${name}.foo.svc.cluster.local`;
const labels = { app: "x" };
const book = service({
  at: `${host("book")}@foo`,
  ports: [80],
  age: 2,
  attributes: { name: "book", selector: labels },
});
const admin = service({ at: `${host("admin")}@foo`, ports: [90], attributes: { name: "admin", selector: labels } });
const [bookPort, adminPort] = [8080, 8090];
const targets = [
  { service: book, servicePort: { name: "http-80", port: 80, protocol: "HTTP" as const }, targetPort: bookPort },
  { service: admin, servicePort: { name: "http-90", port: 90, protocol: "HTTP" as const }, targetPort: adminPort },
];
const backing = (servicePortName: string, port: number): Endpoint =>
  endpoint("10.1.0.1", { servicePortName, port, labels, namespace: "foo" });
const endpoints = new Map([
  [`foo/${host("book")}`, [backing("http-80", bookPort)]],
  [`foo/${host("admin")}`, [backing("http-90", adminPort)]],
]);

/** What holds at a pod that both services lead to. */
function served(configs: readonly Config[], parts: Partial<WorldParts> = {}) {
  const of = world({
    services: [book, admin],
    endpoints,
    proxies: [sidecar("pod.foo", labels)],
    targets: { "pod.foo": targets },
    configs,
    ...parts,
  });
  const { value: mesh, diagnostics } = buildMesh(of, createMemo());
  const [proxy] = of.proxies;
  if (proxy === undefined) throw new Error("no proxy");
  const { policies, lookups, inbound } = envoyViewsOf(mesh, proxy, createMemo()).listeners;
  return {
    policies,
    lookups,
    serverMode: (port: number) => inbound.mtlsMode(port),
    clientMode: (port: number) => mesh.lookups.workloadMtlsMode("foo", labels, port),
    guess: (of: typeof book, name: string, port: number) =>
      mesh.lookups.serviceMtlsMode(of, { name, port, protocol: "HTTP" }),
    allows: (asked: Partial<Asked>) => envoyAllows(policies.authorization, lookups, { ...plain, ...asked }),
    said: diagnostics.map(({ code, origin, path }) => `${code} ${origin.key.kind} ${path.join(".")}`.trimEnd()),
    messages: diagnostics.map(({ message }) => message),
  };
}

const plain = requestOn(bookPort);

const policy = (key: string, spec: AuthenticationPolicy, age = 0) =>
  config<AuthenticationPolicy>("Policy", key, spec, age);
const meshPolicy = (spec: AuthenticationPolicy): Config => {
  const made = config("MeshPolicy", "/default", spec);
  return { ...made, meta: { ...made.meta, namespace: "" } };
};
const strict: AuthenticationPolicy = { peers: [{ mtls: {} }] };
const permissive: AuthenticationPolicy = { peers: [{ mtls: { mode: "PERMISSIVE" } }] };
const plainText: AuthenticationPolicy = {};
const forBook = { targets: [{ name: "book" }] };

describe("mutual TLS that authentication policies ask for", () => {
  it.each<{ why: string; policies: readonly Config[]; book: string; admin: string; other: string }>([
    { why: "nothing", policies: [], book: "PERMISSIVE", admin: "PERMISSIVE", other: "PERMISSIVE" },
    { why: "a strict mesh", policies: [meshPolicy(strict)], book: "STRICT", admin: "STRICT", other: "STRICT" },
    {
      why: "a plain namespace in it",
      policies: [meshPolicy(strict), policy("foo/default", plainText)],
      book: "DISABLE",
      admin: "DISABLE",
      other: "DISABLE",
    },
    {
      why: "another namespace",
      policies: [policy("bar/default", strict), policy("istio-system/default", strict)],
      book: "PERMISSIVE",
      admin: "PERMISSIVE",
      other: "PERMISSIVE",
    },
    {
      why: "one service",
      policies: [policy("foo/default", plainText), policy("foo/book", { ...strict, ...forBook })],
      book: "STRICT",
      admin: "DISABLE",
      other: "DISABLE",
    },
    {
      why: "one port by number, before the whole service",
      policies: [
        policy("foo/old", { ...strict, ...forBook }, 9),
        policy("foo/port", { ...permissive, targets: [{ name: "book", ports: [{ number: 80 }] }] }),
      ],
      book: "PERMISSIVE",
      admin: "PERMISSIVE",
      other: "PERMISSIVE",
    },
    {
      why: "one port by name",
      policies: [policy("foo/port", { ...strict, targets: [{ name: "admin", ports: [{ name: "http-90" }] }] })],
      book: "PERMISSIVE",
      admin: "STRICT",
      other: "PERMISSIVE",
    },
    {
      why: "the older of two",
      policies: [policy("foo/young", { ...plainText, ...forBook }), policy("foo/old", { ...strict, ...forBook }, 9)],
      book: "STRICT",
      admin: "PERMISSIVE",
      other: "PERMISSIVE",
    },
    {
      why: "a newer policy, which wins wherever it applies",
      policies: [
        policy("foo/book", { ...strict, ...forBook }),
        config<PeerAuthentication>("PeerAuthentication", "foo/new", {
          selector: { matchLabels: labels },
          mtls: { mode: "PERMISSIVE" },
        }),
        policy("foo/default", plainText),
      ],
      book: "PERMISSIVE",
      admin: "PERMISSIVE",
      other: "PERMISSIVE",
    },
    {
      why: "a newer policy of the mesh",
      policies: [
        policy("foo/book", { ...plainText, ...forBook }),
        config<PeerAuthentication>("PeerAuthentication", "istio-system/new", { mtls: { mode: "STRICT" } }),
      ],
      book: "STRICT",
      admin: "STRICT",
      other: "STRICT",
    },
  ])("with $why", ({ policies, book: atBook, admin: atAdmin, other }) => {
    const { serverMode, clientMode } = served(policies);
    const want = [atBook, atAdmin, other];
    expect([bookPort, adminPort, 9999].map(serverMode)).toEqual(want);
    expect([bookPort, adminPort, 9999].map(clientMode)).toEqual(want);
  });

  it("is guessed by clients for each service, as some have no endpoints to tell", () => {
    const { guess } = served([policy("foo/default", plainText), policy("foo/book", { ...strict, ...forBook })]);
    expect([guess(book, "http-80", 80), guess(admin, "http-90", 90)]).toEqual(["STRICT", "DISABLE"]);
  });

  it("is that of the older of two services on one port", () => {
    const shared = targets.map((target) => ({ ...target, targetPort: bookPort }));
    const { serverMode, clientMode } = served([policy("foo/admin", { ...strict, targets: [{ name: "admin" }] })], {
      targets: { "pod.foo": shared },
      endpoints: new Map([...endpoints, [`foo/${host("admin")}`, [backing("http-90", bookPort)]]]),
    });
    expect([serverMode(bookPort), clientMode(bookPort)]).toEqual(["PERMISSIVE", "PERMISSIVE"]);
  });
});

const jwt = (issuer: string, more: Partial<LegacyJwt> = {}): LegacyJwt => ({ issuer, jwks: "{}", ...more });
const origins = (...jwts: readonly LegacyJwt[]): AuthenticationPolicy => ({
  origins: jwts.map((one) => ({ jwt: one })),
});
const tokenOf = (iss: string) => ({ iss, sub: "me" });

describe("tokens that authentication policies ask for", () => {
  it("are asked for on the ports of the policy's service", () => {
    const { allows, policies } = served([policy("foo/book", { ...origins(jwt("a")), ...forBook })]);
    expect(policies.requestAuthentication.map(({ spec }) => spec.jwtRules)).toEqual([
      [{ issuer: "a", jwks: "{}", forwardOriginalToken: true }],
    ]);
    expect([allows({}), allows({ token: tokenOf("a") }), allows({ port: adminPort }), allows({ port: 9999 })]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  it("may come from any origin, and need not come where they are optional", () => {
    const two = origins(jwt("a"), jwt("b"));
    expect(served([policy("foo/default", two)]).allows({ token: tokenOf("b") })).toBe(true);
    expect(served([policy("foo/default", { ...two, originIsOptional: true })]).allows({})).toBe(true);
  });

  it("of another port's issuer do not do", () => {
    const { allows } = served([
      policy("foo/book", { ...origins(jwt("a")), ...forBook }),
      policy("foo/admin", { ...origins(jwt("b")), targets: [{ name: "admin" }] }),
    ]);
    expect(allows({ token: tokenOf("b") })).toBe(false);
    expect(allows({ port: adminPort, token: tokenOf("b") })).toBe(true);
  });

  it("of one issuer with two meanings are taken as the older policy says, and refused on the ports of the other", () => {
    const { allows, policies, said } = served([
      policy("foo/book", { ...origins(jwt("a", { audiences: ["young"] })), ...forBook }),
      policy("foo/admin", { ...origins(jwt("a")), targets: [{ name: "admin" }] }, 9),
    ]);
    expect(policies.requestAuthentication.flatMap(({ spec }) => spec.jwtRules).length).toBe(1);
    expect(allows({ token: tokenOf("a") })).toBe(false);
    expect(allows({ port: adminPort, token: tokenOf("a") })).toBe(true);
    expect(said).toContain("legacy-not-expressible Policy spec.origins.0.jwt");
  });

  it("stand in for a certificate where a peer may bring one and mutual TLS is not asked for", () => {
    const peers = [{ jwt: jwt("a") }];
    expect(served([policy("foo/default", { peers })]).allows({})).toBe(false);
    expect(served([policy("foo/default", { peers, peerIsOptional: true })]).allows({})).toBe(true);
    expect(served([policy("foo/default", { peers: [{ mtls: {} }, ...peers] })]).allows({})).toBe(true);
  });

  it("are not asked for where a RequestAuthentication applies", () => {
    const newer = config<RequestAuthentication>("RequestAuthentication", "foo/new", {
      selector: { matchLabels: labels },
      jwtRules: [{ issuer: "n", jwks: "{}" }],
    });
    const { allows, policies } = served([policy("foo/default", origins(jwt("a"))), newer]);
    expect(policies.requestAuthentication.map(({ meta }) => meta.name)).toEqual(["new"]);
    expect(allows({})).toBe(true);
  });

  it("are not asked of browsers that ask with OPTIONS whether they may come", () => {
    const { allows } = served([policy("foo/default", origins(jwt("a")))]);
    const preflight = { origin: "https://shop", "access-control-request-method": "GET" };
    expect(allows({ method: "OPTIONS", headers: preflight })).toBe(true);
    expect(allows({ method: "OPTIONS", headers: { origin: "https://shop" } })).toBe(false);
    expect(allows({ method: "GET", headers: preflight })).toBe(false);
  });

  it("are nothing that TCP connections are refused for", () => {
    const { policies, lookups } = served([policy("foo/default", origins(jwt("a")))]);
    expect(tcpAuthorization(policies.authorization, providerLookups(lookups)).value.builtIn).toEqual([]);
  });

  it("come from where the policy says, and keys that nobody has are missed where they are written", () => {
    const { policies } = served([
      policy("foo/default", origins(jwt("a"), { issuer: "b", jwtHeaders: ["x"], jwtParams: ["y"] })),
    ]);
    expect(policies.requestAuthentication[0]?.spec.jwtRules?.[1]).toEqual({
      issuer: "b",
      fromHeaders: [{ name: "x" }],
      fromParams: ["y"],
      forwardOriginalToken: true,
    });
    const options = { clearsRouteCache: false, keySets: undefined };
    const { diagnostics } = jwtAuthentication(policies.requestAuthentication, options);
    expect(diagnostics.map(({ origin, path }) => [origin.key.kind, ...path].join("."))).toEqual([
      "Policy.spec.origins.1.jwt.issuer",
    ]);
  });
});

describe("trigger rules", () => {
  const path = (match: PathMatch, text: string): boolean =>
    (match.exact === undefined || match.exact === text) &&
    (match.prefix === undefined || text.startsWith(match.prefix)) &&
    (match.suffix === undefined || text.endsWith(match.suffix)) &&
    (match.regex === undefined || new RegExp(`^(?:${match.regex})$`).test(text));
  const triggered = ({ triggerRules }: LegacyJwt, text: string): boolean =>
    triggerRules === undefined ||
    triggerRules.some(
      ({ includedPaths = [], excludedPaths = [] }) =>
        !excludedPaths.some((match) => path(match, text)) &&
        (includedPaths.length === 0 || includedPaths.some((match) => path(match, text))),
    );
  /** As the authentication filter of Istio decided: methods that are not triggered are skipped. */
  const oldAllows = (jwts: readonly LegacyJwt[], text: string, issuer: string | undefined): boolean => {
    const asking = jwts.filter((one) => triggered(one, text));
    return asking.length === 0 || asking.some((one) => one.issuer === issuer);
  };

  const sayable: fc.Arbitrary<PathMatch> = fc.constantFrom(
    { exact: "/a" },
    { prefix: "/a" },
    { suffix: "b" },
    { prefix: "" },
    { exact: "/a/b" },
  );
  const rules = (match: fc.Arbitrary<PathMatch>): fc.Arbitrary<readonly TriggerRule[]> =>
    fc.array(
      fc.record(
        {
          includedPaths: fc.array(match, { minLength: 1, maxLength: 2 }),
          excludedPaths: fc.array(match, { minLength: 1, maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
      { minLength: 1, maxLength: 2 },
    );
  const asked = fc.record({
    path: fc.constantFrom("/a", "/a/b", "/b", "/c"),
    issuer: fc.constantFrom(undefined, "a", "b", "c"),
  });

  it("of one origin are kept to the letter", () => {
    fc.assert(
      fc.property(rules(sayable), asked, (triggerRules, { path: text, issuer }) => {
        const jwts = [jwt("a", { triggerRules })];
        const { allows } = served([policy("foo/default", origins(...jwts))]);
        const token = issuer === undefined ? undefined : tokenOf(issuer);
        expect(allows({ path: text, token })).toBe(oldAllows(jwts, text, issuer));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it("never let more through than they said, whatever they say", () => {
    const any = fc.oneof(sayable, fc.constantFrom<PathMatch>({ regex: "/a/.*" }, { exact: "/a*" }, { prefix: "/{*}" }));
    const one = fc.record({ triggerRules: rules(any) }, { requiredKeys: [] });
    fc.assert(
      fc.property(one, one, asked, (first, second, { path: text, issuer }) => {
        const jwts = [jwt("a", first), jwt("b", second)];
        const { allows } = served([policy("foo/default", origins(...jwts))]);
        const token = issuer === undefined ? undefined : tokenOf(issuer);
        if (allows({ path: text, token })) expect(oldAllows(jwts, text, issuer)).toBe(true);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

describe("who still has authentication policies", () => {
  it.each<{ why: string; spec: AuthenticationPolicy; say: string }>([
    { why: "what it became", spec: { ...strict, ...origins(jwt("a")) }, say: "legacy-policy-converted Policy" },
    {
      why: "a service that is not there",
      spec: { targets: [{ name: "shelf" }] },
      say: "legacy-service-unknown Policy spec.targets.0.name",
    },
    {
      why: "a port that is not there",
      spec: { targets: [{ name: "book", ports: [{ number: 8080 }] }] },
      say: "legacy-service-unknown Policy spec.targets.0.ports.0",
    },
    {
      why: "a service without selector",
      spec: { targets: [{ name: "bare" }] },
      say: "legacy-service-without-selector Policy spec.targets.0.name",
    },
    {
      why: "a subset",
      spec: { targets: [{ name: "book", subset: "v1" }] },
      say: "no-effect Policy spec.targets.0.subset",
    },
    { why: "optional peers", spec: { ...strict, peerIsOptional: true }, say: "no-effect Policy spec.peerIsOptional" },
    {
      why: "TLS without certificate",
      spec: { peers: [{ mtls: { allowTls: true } }] },
      say: "no-effect Policy spec.peers.0.mtls.allowTls",
    },
    {
      why: "optional origins",
      spec: { ...origins(jwt("a")), originIsOptional: true },
      say: "no-effect Policy spec.originIsOptional",
    },
    {
      why: "an issuer like a pattern",
      spec: origins(jwt("a*")),
      say: "legacy-not-expressible Policy spec.origins.0.jwt.issuer",
    },
    {
      why: "a path by regular expression",
      spec: origins(jwt("a", { triggerRules: [{ excludedPaths: [{ regex: ".*" }] }] })),
      say: "legacy-not-expressible Policy spec.origins.0.jwt.triggerRules.0.excludedPaths.0",
    },
  ])("is told of $why", ({ spec, say }) => {
    const bare = service({ at: `${host("bare")}@foo`, attributes: { name: "bare" } });
    expect(served([policy("foo/p", spec)], { services: [book, admin, bare] }).said).toContain(say);
  });
});

describe("the principal of a request", () => {
  const role = config("ServiceRole", "foo/reader", { rules: [{ services: ["*"] }] });
  const bind = (principal: string) =>
    config("ServiceRoleBinding", "foo/b", {
      subjects: [{ properties: { "request.auth.principal": principal } }],
      roleRef: { kind: "ServiceRole", name: "reader" },
    });
  const on = config("RbacConfig", "istio-system/default", { mode: "ON" });
  const asked = { token: tokenOf("a") };

  it("is the token's where the policy binds it to the origin", () => {
    const bound = policy("foo/default", { ...strict, ...origins(jwt("a")), principalBinding: "USE_ORIGIN" });
    expect(served([bound, on, role, bind("a/me")]).allows(asked)).toBe(true);
    expect(served([bound, on, role, bind(plain.peer ?? "")]).allows(asked)).toBe(false);
  });

  it("is the peer's otherwise", () => {
    const unbound = policy("foo/default", { ...strict, ...origins(jwt("a")) });
    expect(served([unbound, on, role, bind("a/me")]).allows(asked)).toBe(false);
    expect(served([unbound, on, role, bind(plain.peer ?? "")]).allows(asked)).toBe(true);
  });

  it("is no stranger's: what another port's token says counts there only", () => {
    const bindGroup = config("ServiceRoleBinding", "foo/b", {
      subjects: [{ group: "readers" }],
      roleRef: { kind: "ServiceRole", name: "reader" },
    });
    const forAdmin = policy("foo/admin", {
      ...origins(jwt("a")),
      originIsOptional: true,
      targets: [{ name: "admin" }],
    });
    const { allows } = served([forAdmin, on, role, bindGroup]);
    const token = { ...tokenOf("a"), groups: "readers" };
    expect(allows({ port: adminPort, token })).toBe(true);
    expect(allows({ port: bookPort, token })).toBe(false);
  });
});
