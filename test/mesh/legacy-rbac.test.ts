import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Config } from "../../lib/config/config.ts";
import type { AuthorizationPolicy } from "../../lib/config/kinds/authorization-policy.ts";
import type {
  AccessConstraint,
  AccessRule,
  RbacConfig,
  ServiceRole,
  ServiceRoleBinding,
  Subject,
} from "../../lib/config/kinds/legacy/service-role.ts";
import { closedAnnotation, httpOnlyAnnotation } from "../../lib/config/made-annotations.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { propertyRuns } from "../soak-options.ts";
import { type Asked, envoyAllows, requestOn } from "./envoy-rbac.ts";
import { envoyViewsOf } from "./envoy-views.ts";
import { type OldWorkload, oldRbacAllows } from "./old-rbac.ts";
import { config, service, sidecar, type WorldParts, world } from "./parts.ts";

const host = (name: string, namespace = "foo") => `${name}.${namespace}.svc.cluster.local`;
const book = service({
  at: `${host("book")}@foo`,
  ports: [80],
  age: 2,
  attributes: { name: "book", selector: { app: "x" } },
});
const admin = service({
  at: `${host("admin")}@foo`,
  ports: [90],
  attributes: { name: "admin", selector: { app: "x" } },
});
const pod = sidecar("pod.foo", { app: "x", version: "v1" }, { serviceAccount: "bookkeeper" });
const [bookPort, adminPort] = [8080, 8090];
const targets = [
  { service: book, servicePort: { name: "http-80", port: 80, protocol: "HTTP" as const }, targetPort: bookPort },
  { service: admin, servicePort: { name: "http-90", port: 90, protocol: "HTTP" as const }, targetPort: adminPort },
];

/** What the pod's policies say, and the mesh's diagnostics. */
function served(configs: readonly Config[], parts: Partial<WorldParts> = {}) {
  const of = world({ services: [book, admin], proxies: [pod], targets: { "pod.foo": targets }, configs, ...parts });
  const { value: mesh, diagnostics } = buildMesh(of, createMemo());
  const [proxy] = of.proxies;
  if (proxy === undefined) throw new Error("no proxy");
  const { policies, lookups } = envoyViewsOf(mesh, proxy, createMemo()).listeners;
  return {
    policies: policies.authorization,
    allows: (asked: Partial<Asked>) => envoyAllows(policies.authorization, lookups, { ...plain, ...asked }),
    said: diagnostics.map(({ code, origin, path }) => `${code} ${origin.key.kind} ${path.join(".")}`.trimEnd()),
    messages: diagnostics.map(({ message }) => message),
  };
}

const plain = requestOn(bookPort);

const cluster = (spec: RbacConfig): Config => {
  const made = config("ClusterRbacConfig", "/default", spec);
  return { ...made, meta: { ...made.meta, namespace: "" } };
};
const on = cluster({ mode: "ON" });
const role = (rule: AccessRule, key = "foo/reader") =>
  config<ServiceRole>("ServiceRole", key, { rules: [{ services: ["*"], ...rule }] });
const bind = (subject: Subject, mode: ServiceRoleBinding["mode"] = "ENFORCED", key = "foo/binding") =>
  config<ServiceRoleBinding>("ServiceRoleBinding", key, {
    subjects: [subject],
    mode,
    roleRef: { kind: "ServiceRole", name: "reader" },
  });
const everybody = bind({ user: "*" });

describe("what RBAC governs", () => {
  const cases: readonly { readonly why: string; readonly spec: RbacConfig; readonly closed: readonly number[] }[] = [
    { why: "OFF", spec: { mode: "OFF" }, closed: [] },
    { why: "no mode", spec: {}, closed: [] },
    { why: "ON", spec: { mode: "ON" }, closed: [bookPort, adminPort] },
    {
      why: "an included service",
      spec: { mode: "ON_WITH_INCLUSION", inclusion: { services: [host("book")] } },
      closed: [bookPort],
    },
    {
      why: "an included namespace",
      spec: { mode: "ON_WITH_INCLUSION", inclusion: { namespaces: ["foo"] } },
      closed: [bookPort, adminPort],
    },
    {
      why: "another included namespace",
      spec: { mode: "ON_WITH_INCLUSION", inclusion: { namespaces: ["bar"] } },
      closed: [],
    },
    {
      why: "an excluded service",
      spec: { mode: "ON_WITH_EXCLUSION", exclusion: { services: [host("book")] } },
      closed: [adminPort],
    },
    {
      why: "a pattern, which is none here",
      spec: { mode: "ON_WITH_EXCLUSION", exclusion: { services: ["*"] } },
      closed: [bookPort, adminPort],
    },
    { why: "a dry run", spec: { mode: "ON", enforcementMode: "PERMISSIVE" }, closed: [] },
  ];

  it.each(cases)("with $why", ({ spec, closed }) => {
    const { allows } = served([cluster(spec)]);
    expect([bookPort, adminPort, 9999].filter((port) => !allows({ port }))).toEqual(closed);
  });

  it("is what the ClusterRbacConfig says, whatever an RbacConfig says", () => {
    const both = [cluster({ mode: "OFF" }), config<RbacConfig>("RbacConfig", "istio-system/default", { mode: "ON" })];
    const { policies, said } = served(both);
    expect(policies).toEqual([]);
    expect(said).toContain("legacy-policy-shadowed RbacConfig");
  });

  it("is what the root namespace's RbacConfig says without one", () => {
    const configs = [
      config<RbacConfig>("RbacConfig", "elsewhere/default", { mode: "OFF" }, 9),
      config<RbacConfig>("RbacConfig", "istio-system/default", { mode: "ON" }),
    ];
    expect(served(configs).allows({})).toBe(false);
  });

  it("is nothing where an AuthorizationPolicy selects the workload", () => {
    const newer = (app: string) =>
      config<AuthorizationPolicy>("AuthorizationPolicy", "foo/newer", {
        selector: { matchLabels: { app } },
        rules: [{ to: [{ operation: { paths: ["/new"] } }] }],
      });
    expect(served([on, newer("x")]).policies.map(({ meta }) => meta.name)).toEqual(["newer"]);
    expect(served([on, newer("y")]).policies.map(({ meta }) => meta.name)).toEqual(["cluster-rbac-config"]);
  });

  it("stays governed while an AuthorizationPolicy is only tried out", () => {
    const tried = config<AuthorizationPolicy>("AuthorizationPolicy", "foo/newer", {}, 0, {
      "istio.io/dry-run": "true",
    });
    expect(served([on, tried]).allows({})).toBe(false);
  });

  it("stays governed beside what stands in for a refused RequestAuthentication", () => {
    const spec: AuthorizationPolicy = { action: "DENY", rules: [{}] };
    const annotations = { [closedAnnotation]: "target", [httpOnlyAnnotation]: "true" };
    const standIn = { ...config("AuthorizationPolicy", "foo/closed", spec, 0, annotations), madeFrom: {} };
    expect(served([on, standIn]).policies.map(({ meta }) => meta.name)).toContain("cluster-rbac-config");
  });

  it("are also ports that a Sidecar opens and no service leads to", () => {
    const opened = config("Sidecar", "foo/side", {
      ingress: [{ port: { number: 7000, name: "http", protocol: "HTTP" }, defaultEndpoint: "127.0.0.1:1" }],
    });
    expect(served([on, opened]).allows({ port: 7000 })).toBe(false);
    expect(served([on]).allows({ port: 7000 })).toBe(true);
  });
});

describe("what a role allows", () => {
  const withRule = (rule: AccessRule) => served([on, role(rule), everybody]);

  it.each<{ why: string; rule: AccessRule; yes: Partial<Asked>; no: Partial<Asked> }>([
    { why: "a service", rule: { services: [host("book")] }, yes: {}, no: { port: adminPort } },
    { why: "services by prefix", rule: { services: ["adm*"] }, yes: { port: adminPort }, no: {} },
    { why: "services by suffix", rule: { services: ["*k.foo.svc.cluster.local"] }, yes: {}, no: { port: adminPort } },
    { why: "methods", rule: { methods: ["P*"] }, yes: { method: "PUT" }, no: {} },
    { why: "paths", rule: { paths: ["/a/*"] }, yes: { path: "/a/b" }, no: { path: "/b" } },
    { why: "paths it leaves out", rule: { notPaths: ["*.key"] }, yes: {}, no: { path: "/x.key" } },
    { why: "hosts", rule: { hosts: ["book*"] }, yes: { host: "book.shop" }, no: { host: "x" } },
    { why: "ports of the workload", rule: { ports: [bookPort] }, yes: {}, no: { port: adminPort } },
    {
      why: "a label of the workload",
      rule: { constraints: [{ key: "destination.labels[version]", values: ["v*"] }] },
      yes: {},
      no: { method: "" },
    },
    {
      why: "a header",
      rule: { constraints: [{ key: "request.headers[x-a]", values: ["1"] }] },
      yes: { headers: { "x-a": "1" } },
      no: { headers: { "x-a": "2" } },
    },
  ])("by $why", ({ rule, yes, no }) => {
    const { allows } = withRule(rule.paths || rule.methods ? rule : { ...rule, methods: ["*T"] });
    expect(allows(yes)).toBe(true);
    expect(allows(no)).toBe(false);
  });

  it.each<{ why: string; constraint: AccessConstraint }>([
    { why: "another label", constraint: { key: "destination.labels[version]", values: ["v2"] } },
    { why: "a label that is not there", constraint: { key: "destination.labels[tier]", values: ["*"] } },
    { why: "another account", constraint: { key: "destination.user", values: ["nobody"] } },
    { why: "another namespace", constraint: { key: "destination.namespace", values: ["bar"] } },
    { why: "another service", constraint: { key: "destination.name", values: ["shelf"] } },
    { why: "something no proxy knows", constraint: { key: "destination.mood", values: ["*"] } },
    { why: "no port", constraint: { key: "destination.port", values: ["many"] } },
  ])("is nothing for a constraint on $why", ({ constraint }) => {
    expect(withRule({ constraints: [constraint] }).allows({})).toBe(false);
  });

  it("says at the field what it cannot say to a proxy", () => {
    const rule: AccessRule = { paths: ["/{*}"], constraints: [{ key: "destination.mood", values: ["*"] }] };
    expect(withRule(rule).said).toEqual(
      expect.arrayContaining([
        "legacy-not-expressible ServiceRole spec.rules.0.paths.0",
        "legacy-not-expressible ServiceRole spec.rules.0.constraints.0.key",
      ]),
    );
  });

  it("counts for services of its own namespace only", () => {
    expect(served([on, role({}, "bar/reader"), bind({ user: "*" }, "ENFORCED", "bar/b")]).allows({})).toBe(false);
  });
});

describe("whom a binding means", () => {
  const token = { iss: "me", sub: "you", groups: ["readers", "writers"] };
  it.each<{ subject: Subject; yes: Partial<Asked>; no: Partial<Asked> }>([
    { subject: { user: "allAuthenticatedUsers" }, yes: {}, no: { peer: undefined } },
    { subject: { user: plain.peer ?? "" }, yes: {}, no: { peer: "cluster.local/ns/bar/sa/other" } },
    { subject: { names: ["*/sa/web"] }, yes: {}, no: { peer: "cluster.local/ns/bar/sa/other" } },
    { subject: { notNames: ["*/sa/web"] }, yes: { peer: undefined }, no: {} },
    { subject: { user: "*", namespaces: ["ba*"] }, yes: {}, no: { peer: "cluster.local/ns/foo/sa/web" } },
    { subject: { group: "readers", groups: ["w*"] }, yes: { token }, no: { token: { groups: "readers" } } },
    { subject: { ips: ["10.0.0.0/16"] }, yes: {}, no: { from: "10.1.0.1" } },
    { subject: { properties: { "source.principal": "*" } }, yes: {}, no: { peer: undefined } },
    { subject: { user: "*", properties: { "source.ip": "10.0.0.1" } }, yes: {}, no: { from: "10.0.0.2" } },
    { subject: { properties: { "request.auth.principal": "me/you" } }, yes: { token }, no: {} },
    { subject: { properties: { "request.headers[x-a]": "*" } }, yes: { headers: { "x-a": "" } }, no: {} },
  ])("$subject", ({ subject, yes, no }) => {
    const { allows } = served([on, role({}), bind(subject)]);
    expect(allows(yes)).toBe(true);
    expect(allows(no)).toBe(false);
  });

  it.each<Subject>([{ ips: ["here"] }, { user: "*", properties: { "source.mood": "*" } }, { notNames: ["*"] }])(
    "is nobody for %j, and it says so",
    (subject) => {
      const { allows, said } = served([on, role({}), bind(subject)]);
      expect(allows({})).toBe(false);
      expect(said.filter((line) => line.startsWith("legacy-not-expressible ServiceRoleBinding")).length).toBe(1);
    },
  );

  it("is only tried out by a permissive binding", () => {
    const { allows, policies } = served([on, role({}), bind({ user: "*" }, "PERMISSIVE")]);
    expect(allows({})).toBe(false);
    expect(policies.map(({ meta }) => [meta.name, meta.annotations])).toEqual([
      ["cluster-rbac-config", {}],
      ["service-role-reader", { "istio.io/dry-run": "true" }],
    ]);
  });
});

describe("who still has the old objects", () => {
  it("is told what they became", () => {
    const { messages, said } = served([on, role({}), everybody]);
    expect(messages.join("\n")).toContain("the ports of 2 services");
    expect(messages.join("\n")).toContain(`AuthorizationPolicy service-role-reader) on the ports of ${host("admin")}`);
    expect(new Set(said.map((line) => line.split(" ")[0]))).toEqual(new Set(["legacy-policy-converted"]));
  });

  it.each([
    {
      why: "a service that is not there",
      configs: [on, role({ services: ["shelf"] }), everybody],
      say: "legacy-service-unknown ServiceRole spec.rules.0.services.0",
    },
    {
      why: "an excluded service that is not there",
      configs: [cluster({ mode: "ON_WITH_EXCLUSION", exclusion: { services: ["book"] } })],
      say: "legacy-service-unknown ClusterRbacConfig spec.exclusion.services.0",
    },
    {
      why: "a role that is not there",
      configs: [on, everybody],
      say: "legacy-role-unknown ServiceRoleBinding spec.roleRef.name",
    },
    { why: "a role without bindings", configs: [on, role({})], say: "no-effect ServiceRole" },
    { why: "a role while RBAC is off", configs: [role({}), everybody], say: "no-effect ServiceRole" },
  ])("is told of $why", ({ configs, say }) => {
    expect(served(configs).said).toContain(say);
  });
});

describe("converted RBAC", () => {
  const pattern = (texts: readonly string[]) => fc.constantFrom(...texts);
  const some = (texts: readonly string[]) => fc.array(pattern(texts), { minLength: 1, maxLength: 2 });
  const constraint = fc.constantFrom<AccessConstraint>(
    { key: "destination.labels[version]", values: ["v1"] },
    { key: "destination.labels[version]", values: ["v2"] },
    { key: "destination.user", values: ["book*"] },
    { key: "destination.name", values: ["book"] },
    { key: "destination.port", values: [String(bookPort)] },
    { key: "request.headers[x-a]", values: ["1", "2*"] },
    { key: "request.headers[x-a]", values: ["*"] },
  );
  const rule: fc.Arbitrary<AccessRule> = fc.record(
    {
      services: fc.array(pattern(["*", host("book"), "adm*", "*.bar.svc.cluster.local"]), {
        minLength: 1,
        maxLength: 2,
      }),
      methods: some(["GET", "P*", "*"]),
      notMethods: some(["PUT", "*T"]),
      paths: some(["/a", "/a*", "*b", "*"]),
      notPaths: some(["/a/b", "*z"]),
      hosts: some(["book", "*"]),
      notHosts: some(["a*"]),
      ports: fc.constant([bookPort]),
      notPorts: fc.constant([adminPort]),
      constraints: fc.array(constraint, { maxLength: 2 }),
    },
    { requiredKeys: ["services"] },
  );
  const names = ["cluster.local/ns/bar/sa/web", "*/sa/web", "cluster.local/ns/foo*", "allAuthenticatedUsers"];
  const subject: fc.Arbitrary<Subject> = fc
    .record(
      {
        user: pattern([...names, "*", "allUsers"]),
        names: some([...names, "*"]),
        notNames: some(names),
        group: pattern(["readers"]),
        groups: some(["readers", "w*"]),
        notGroups: some(["w*"]),
        namespaces: some(["bar", "f*"]),
        notNamespaces: some(["foo"]),
        ips: some(["10.0.0.0/24", "10.1.0.1"]),
        notIps: some(["10.0.0.1"]),
        properties: fc.constantFrom<Record<string, string>>(
          { "source.principal": "*" },
          { "source.namespace": "b*", "source.ip": "10.0.0.0/16" },
          { "request.headers[x-a]": "1" },
          { "request.auth.audiences": "you", "request.auth.claims[groups]": "*" },
        ),
      },
      { requiredKeys: [] },
    )
    .filter((made) => Object.keys(made).length > 0);
  const rbac = fc
    .record({
      mode: fc.constantFrom<NonNullable<RbacConfig["mode"]>>(
        "OFF",
        "ON",
        "ON",
        "ON_WITH_INCLUSION",
        "ON_WITH_EXCLUSION",
      ),
      target: fc.constantFrom({ services: [host("book")] }, { namespaces: ["foo"] }, { services: [host("admin")] }),
      permissive: fc.boolean(),
    })
    .map(
      ({ mode, target, permissive }): RbacConfig => ({
        mode,
        inclusion: target,
        exclusion: target,
        ...(permissive && mode === "ON" ? { enforcementMode: "PERMISSIVE" } : {}),
      }),
    );
  const roles = fc.array(
    fc.tuple(fc.constantFrom("foo/reader", "foo/writer", "bar/reader"), fc.array(rule, { minLength: 1, maxLength: 2 })),
    { maxLength: 3 },
  );
  const bindings = fc.array(
    fc.tuple(
      fc.constantFrom("reader", "writer"),
      fc.array(subject, { minLength: 1, maxLength: 2 }),
      fc.constantFrom("ENFORCED" as const, "ENFORCED" as const, "PERMISSIVE" as const),
    ),
    { maxLength: 3 },
  );
  const asked: fc.Arbitrary<Asked> = fc.record({
    port: fc.constantFrom(bookPort, adminPort, 9999),
    method: fc.constantFrom("GET", "PUT", "POST"),
    path: fc.constantFrom("/a", "/a/b", "/z", "/b"),
    host: fc.constantFrom("book", "a.b"),
    headers: fc.constantFrom<Record<string, string>>({}, { "x-a": "1" }, { "x-a": "22" }),
    from: fc.constantFrom("10.0.0.1", "10.0.0.2", "10.1.0.1"),
    peer: fc.constantFrom(undefined, "cluster.local/ns/bar/sa/web", "cluster.local/ns/foo/sa/web"),
    token: fc.constantFrom<Asked["token"]>(
      undefined,
      { groups: "readers", aud: "you" },
      { groups: ["writers", "readers"] },
    ),
  });
  const workload: OldWorkload = {
    labels: { app: "x", version: "v1" },
    serviceAccount: "bookkeeper",
    serviceOn: (port) => targets.find(({ targetPort }) => targetPort === port)?.service,
  };

  it("decides on every request as the old release did", () => {
    fc.assert(
      fc.property(
        fc.option(rbac, { nil: undefined }),
        roles,
        bindings,
        fc.array(asked, { minLength: 8, maxLength: 8 }),
        (spec, written, given, requests) => {
          const old = {
            config: spec,
            roles: [...new Map(written).entries()].map(([key, rules]) =>
              config<ServiceRole>("ServiceRole", key, { rules }),
            ),
            bindings: given.map(([name, subjects, mode], at) =>
              config<ServiceRoleBinding>("ServiceRoleBinding", `foo/b-${at}`, {
                subjects,
                mode,
                roleRef: { kind: "ServiceRole", name },
              }),
            ),
          };
          const { allows } = served([...(spec === undefined ? [] : [cluster(spec)]), ...old.roles, ...old.bindings]);
          for (const request of requests) expect(allows(request)).toBe(oldRbacAllows(old, workload, request));
        },
      ),
      { numRuns: propertyRuns(400) },
    );
  });
});
