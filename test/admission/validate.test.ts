import { describe, expect, it } from "vitest";
import { type AdmissionOptions, admissionApp } from "../../lib/admission/app.ts";
import type { AdmissionWorld } from "../../lib/admission/world.ts";
import { WorldUnread } from "../../lib/admission/world-reader.ts";
import { fieldsOf } from "../../lib/base/untyped.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { limits } from "../../lib/limits/limits.ts";

interface Change {
  readonly operation?: string;
  readonly object?: object | null;
  readonly oldObject?: object | null;
  readonly username?: string;
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly subResource?: string;
}

const review = ({ operation = "CREATE", object = null, oldObject = null, username = "ada", ...rest }: Change) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "7e1f",
    operation,
    namespace: "shop",
    name: "x",
    userInfo: { username },
    object,
    oldObject,
    ...rest,
  },
});

const post = (
  options: Partial<AdmissionOptions>,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  path = "",
) =>
  admissionApp({ workloads: "allow", ...options }).request(`/admission/validate${path}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });

/** What the webhook answers about a change. */
async function answer(change: Change, options: Partial<AdmissionOptions> = {}) {
  const response = await post(options, JSON.stringify(review(change)));
  expect(response.status).toBe(200);
  const { response: given, ...envelope } = fieldsOf(await response.json());
  expect(envelope).toEqual({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  const { uid, allowed, warnings, status } = fieldsOf(given);
  expect(uid).toBe("7e1f");
  return { allowed, message: fieldsOf(status).message, warnings: warnings ?? [] };
}

const object = (kind: string, spec: object, metadata: object = {}, group = "networking.istio.io/v1") => ({
  apiVersion: group,
  kind,
  metadata: { name: "x", namespace: "shop", creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
  spec,
});
const policy = (spec: object, metadata: object = {}) =>
  object("AuthorizationPolicy", spec, metadata, "security.istio.io/v1");
const route = (host: string) =>
  object("VirtualService", { hosts: ["cart"], http: [{ route: [{ destination: { host } }] }] });

const worldOf = (...objects: readonly object[]): AdmissionWorld => ({
  loaded: readFiles([{ file: "a.yaml", text: objects.map((one) => JSON.stringify(one)).join("\n---\n") }]),
  clusterIds: ["Kubernetes"],
  otherHosts: [],
});
const inWorld = (...objects: readonly object[]) => {
  const world = worldOf(...objects);
  return { world: async () => world };
};
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-1", namespace: "shop", labels: { app: "web" } },
  spec: {},
};

describe("the validating webhook", () => {
  it("allows a valid object without a word", async () => {
    expect(await answer({ object: route("cart") })).toEqual({ allowed: true, message: undefined, warnings: [] });
  });

  it("refuses an invalid one in Istio's words, with the path of the field", async () => {
    const { allowed, message } = await answer({ object: object("VirtualService", { hosts: [] }), dryRun: true });
    expect(allowed).toBe(false);
    expect(message).toMatch(/^configuration is invalid: /);
    expect(message).toContain("spec");
  });

  it("lists several errors as Istio does", async () => {
    const { message } = await answer({ object: object("ServiceEntry", { hosts: [], ports: [{ number: 0 }] }) });
    expect(message).toMatch(/^configuration is invalid: \d+ errors occurred:\n\t\* /);
  });

  it("refuses an unknown field", async () => {
    const { allowed, message } = await answer({ object: object("VirtualService", { hosts: ["a.com"], httpp: [] }) });
    expect({ allowed, message }).toEqual({ allowed: false, message: expect.stringContaining("httpp") });
  });

  it("shows warnings of a valid object", async () => {
    const two = { hosts: ["a.com"], http: [{ redirect: { uri: "/" } }, { redirect: { uri: "/b" } }] };
    const { allowed, warnings } = await answer({ object: object("VirtualService", two) });
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("spec.http[1]")]);
  });

  it("takes the namespace of the request for an object that names none", async () => {
    const { metadata, ...rest } = policy({});
    const { namespace: _none, ...bare } = metadata;
    const change = { object: { ...rest, metadata: bare }, namespace: "other" };
    expect((await answer(change, { workloads: "refuse" })).message).toContain("the workloads of other");
  });

  it("allows kinds that it does not know, with a warning", async () => {
    const { allowed, warnings } = await answer({ object: object("Widget", {}, {}, "example.com/v1") });
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("Widget.example.com is not a kind that this webhook validates")]);
  });

  it.each<Change>([
    { operation: "DELETE", oldObject: object("VirtualService", { hosts: [] }) },
    { operation: "CONNECT" },
    { operation: "UPDATE", subResource: "status", object: object("VirtualService", { hosts: [] }) },
    {
      operation: "UPDATE",
      object: object("VirtualService", { hosts: [] }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      oldObject: object("VirtualService", { hosts: [] }),
    },
  ])("never stops $operation of what goes or is no object", async (change) => {
    expect(await answer(change, { workloads: "refuse" })).toMatchObject({ allowed: true });
  });
});

describe("an object that goes", () => {
  it("is in force until then, so a new spec of it is validated", async () => {
    const change: Change = {
      operation: "UPDATE",
      object: object("VirtualService", { hosts: [] }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      oldObject: object("VirtualService", { hosts: ["a.test"], http: [{ redirect: { uri: "/" } }] }),
    };
    expect(await answer(change)).toMatchObject({ allowed: false });
  });
});

describe("what cannot be answered", () => {
  it.each([
    ["{", 400, "no JSON object"],
    [JSON.stringify({ ...review({}), apiVersion: "admission.k8s.io/v1beta1" }), 400, "admissionReviewVersions"],
    [JSON.stringify(review({})), 400, "request.object is not an object"],
    ["", 400, "no body found"],
    [
      JSON.stringify(review({ object: { spec: "DEEP" } })).replace('"DEEP"', "[".repeat(5_000) + "]".repeat(5_000)),
      400,
      "nested",
    ],
    [" ".repeat(limits.reviewBytes + 1), 413, "over"],
  ])(
    "is refused with a status, upon which the API server does what its failurePolicy says",
    async (body, status, detail) => {
      const response = await post({}, body);
      expect(response.status).toBe(status);
      expect(fieldsOf(await response.json()).detail).toContain(detail);
    },
  );

  it("refuses another type of content", async () => {
    expect((await post({}, "a: 1", { "content-type": "text/yaml" })).status).toBe(415);
  });

  it("asks for the token, in a header or in the path", async () => {
    const body = JSON.stringify(review({ object: route("cart") }));
    const statusOf = async (...call: readonly [Readonly<Record<string, string>>, string?]) =>
      (await post({ token: "secret" }, body, ...call)).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: "Bearer wrong" }, "/secret")).toBe(401);
    expect(await statusOf({ authorization: "Bearer secret" })).toBe(200);
    expect(await statusOf({}, "/secret")).toBe(200);
    expect(await statusOf({}, "/secre")).toBe(401);
  });
});

describe("many reviews at a time", () => {
  const large = JSON.stringify(review({ object: route("x".repeat(5 * 1024 * 1024)) }));
  const small = JSON.stringify(review({ object: route("cart") }));

  /** How many are looked at while the world is waited for. */
  async function lookedAt(bodies: readonly string[], signals: readonly AbortSignal[] = []) {
    const { promise, resolve } = Promise.withResolvers<AdmissionWorld>();
    const first = Promise.withResolvers<void>();
    let looks = 0;
    const app = admissionApp({
      workloads: "allow",
      world: async () => {
        looks += 1;
        first.resolve();
        return promise;
      },
    });
    const answers = bodies.map((body, at) => {
      const headers = { "content-type": "application/json" };
      return app.request("/admission/validate", { method: "POST", headers, body, signal: signals[at] ?? null });
    });
    await first.promise;
    // Long after each body was read.
    for (let turn = 0; turn < 500; turn += 1) await new Promise((done) => setImmediate(done));
    const atATime = looks;
    return { atATime, finish: () => resolve(worldOf()), answers, all: () => looks };
  }

  it("have little room together: large ones are looked at one after the other", async () => {
    const { atATime, finish, answers } = await lookedAt([large, large, large]);
    expect(atATime).toBe(1);
    finish();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("do not wait for each other where they are small", async () => {
    const { atATime, finish, answers } = await lookedAt([small, small, small]);
    expect(atATime).toBe(3);
    finish();
    await Promise.all(answers);
  });

  it("are not looked at any more where the API server has given up", async () => {
    const gone = new AbortController();
    const { finish, answers, all } = await lookedAt([large, large], [new AbortController().signal, gone.signal]);
    gone.abort();
    finish();
    await Promise.allSettled(answers);
    expect(all()).toBe(1);
  });
});

describe("with the newest world", () => {
  const service = (name: string) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "shop" },
    spec: { ports: [{ name: "http", port: 80 }] },
  });

  it("warns of what does not fit together", async () => {
    const { allowed, warnings } = await answer({ object: route("gone") }, inWorld(service("cart")));
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(/destination\.host: .*gone.*\[IST0101\]$/)]);
    expect(await answer({ object: route("cart") }, inWorld(service("cart")))).toMatchObject({ warnings: [] });
  });

  it("warns of what a deletion leaves broken, and not of what was broken before", async () => {
    const gateway = object("Gateway", {
      selector: { app: "web" },
      servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["a.com"] }],
    });
    const user = {
      ...object("VirtualService", { hosts: ["a.com"], gateways: ["x"], http: [{ redirect: { uri: "/" } }] }),
    };
    const broken = { ...route("gone"), metadata: { name: "broken", namespace: "shop" } };
    const { allowed, warnings } = await answer(
      { operation: "DELETE", oldObject: gateway },
      inWorld(gateway, user, broken, service("cart"), pod),
    );
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(/^VirtualService\/shop\/x: spec\.gateways.*\[IST0101\]$/)]);
  });

  it("says so where the world cannot be read, and answers all the same", async () => {
    const world = () => Promise.reject(new WorldUnread("the mesh was not looked at: no store"));
    expect(await answer({ object: route("cart") }, { world })).toEqual({
      allowed: true,
      message: undefined,
      warnings: ["the mesh was not looked at: no store"],
    });
  });

  it("gives no answer where the world decides and cannot be read", async () => {
    const world = () => Promise.reject(new WorldUnread("no store"));
    const response = await post({ world, workloads: "refuse" }, JSON.stringify(review({ object: policy({}) })));
    expect(response.status).toBe(503);
  });
});

const web = { matchLabels: { app: "web" } };
const tokens = (...jwtRules: readonly object[]) =>
  object(
    "RequestAuthentication",
    { jwtRules: jwtRules.map((rule) => ({ jwksUri: "https://keys.example/keys", ...rule })) },
    {},
    "security.istio.io/v1",
  );
const allow = (...rules: readonly object[]) => policy({ rules });
const deny = (...rules: readonly object[]) => policy({ action: "DENY", rules });
const from = (source: object) => ({ from: [{ source }] });
const to = (operation: object) => ({ to: [{ operation }] });
const named = allow(from({ principals: ["cluster.local/ns/shop/sa/web"] }));

/** Changes by which a request passes that was refused: what it is like now, and what it was before. */
const opening: readonly (readonly [string, object, object])[] = [
  ["paths that are all", allow(to({ paths: ["*"] })), named],
  ["methods that are all", allow(to({ methods: ["*"] })), named],
  ["addresses that are all", allow(from({ ipBlocks: ["0.0.0.0/0", "::/0"] })), named],
  ["every identity", allow(from({ principals: ["*"] })), named],
  ["every identity of the mesh", allow(from({ principals: ["cluster.local/*"] })), named],
  ["all but one namespace", allow(from({ notNamespaces: ["x"] })), named],
  ["a header that anybody may send", allow({ when: [{ key: "request.headers[x-a]", values: ["b"] }] }), named],
  [
    "one path for everybody",
    allow(from({ principals: ["cluster.local/ns/shop/sa/web"] }), to({ paths: ["/public"] })),
    named,
  ],
  ["fewer paths of a DENY", deny(to({ paths: ["/a"] })), deny(to({ paths: ["/a", "/b"] }))],
  ["a longer prefix of a DENY", deny(to({ paths: ["/admin/x*"] })), deny(to({ paths: ["/admin*"] }))],
  ["one method of a DENY", deny(to({ paths: ["/a"], methods: ["POST"] })), deny(to({ paths: ["/a"] }))],
  [
    "a selector that moved away",
    policy({ selector: { matchLabels: { app: "other" } }, action: "DENY", rules: [{}] }),
    deny({}),
  ],
  [
    "another authorizer",
    policy({ action: "CUSTOM", provider: { name: "evil" }, rules: [{}] }),
    policy({ action: "CUSTOM", provider: { name: "good" }, rules: [{}] }),
  ],
];
type Refused = [string, object, object, string];

describe("with `workloads: refuse`", () => {
  const guard = { workloads: "refuse" } as const;
  const guarded = policy({
    action: "DENY",
    selector: web,
    rules: [{ from: [{ source: { namespaces: ["x"] } }] }],
  });

  it.each<[string, object, object | undefined, string]>([
    ["an ALLOW policy without rules", policy({}), undefined, "denies all requests to the workloads of shop"],
    ["a DENY policy for everything", policy({ action: "DENY", rules: [{}] }), undefined, "denies all requests"],
    ["a policy that allows everything", policy({ rules: [{}] }), guarded, "lets requests through"],
    [
      "a mode that takes plain text",
      object("PeerAuthentication", { mtls: { mode: "PERMISSIVE" } }, {}, "security.istio.io/v1"),
      object("PeerAuthentication", { mtls: { mode: "STRICT" } }, {}, "security.istio.io/v1"),
      "allows plain text",
    ],
    ...opening.map(([what, next, before]) => [what, next, before, "lets requests through"] satisfies Refused),
    [
      "a DENY policy for every path",
      policy({ action: "DENY", rules: [{ to: [{ operation: { paths: ["*"] } }] }] }),
      undefined,
      "denies all requests",
    ],
    ["an ALLOW policy that allows nothing there is", policy({ rules: [] }), undefined, "denies all requests"],
    ["another issuer", tokens({ issuer: "evil" }), tokens({ issuer: "good" }), "issuer evil"],
    [
      "other keys of an issuer",
      tokens({ issuer: "good", jwksUri: "https://evil.example/keys" }),
      tokens({ issuer: "good" }),
      "issuer good",
    ],
    ["any audience", tokens({ issuer: "good" }), tokens({ issuer: "good", audiences: ["a"] }), "issuer good"],
    [
      "requests without a token",
      tokens({ issuer: "good" }),
      tokens({ issuer: "good", presence: "REQUIRED" }),
      "requires no token",
    ],
    ["no tokens", tokens(), tokens({ issuer: "good" }), "verifies no tokens"],
    [
      "plain text on one port",
      object(
        "PeerAuthentication",
        { selector: web, mtls: { mode: "STRICT" }, portLevelMtls: { 80: { mode: "DISABLE" } } },
        {},
        "security.istio.io/v1",
      ),
      object("PeerAuthentication", { selector: web, mtls: { mode: "STRICT" } }, {}, "security.istio.io/v1"),
      "allows plain text",
    ],
  ])("refuses %s", async (_what, next, before, says) => {
    const change = before === undefined ? { object: next } : { operation: "UPDATE", object: next, oldObject: before };
    const { allowed, message } = await answer(change, guard);
    expect({ allowed, message }).toEqual({ allowed: false, message: expect.stringContaining(says) });
    expect(message).toContain("admission.portolan.dev/accept");
  });

  it("refuses to delete the last policy of a workload, names it, and lets the namespace go", async () => {
    const change = { operation: "DELETE", oldObject: guarded };
    const options = { ...guard, ...inWorld(guarded, pod) };
    expect((await answer(change, options)).message).toContain("shop/web-1");
    const username = "system:serviceaccount:kube-system:namespace-controller";
    expect(await answer({ ...change, username }, options)).toMatchObject({ allowed: true });
  });

  it("allows what another policy goes on guarding, and what selects no workload", async () => {
    const other = policy({ action: "DENY", rules: [from({ namespaces: ["x", "y"] })] }, { name: "other" });
    expect(
      await answer({ operation: "DELETE", oldObject: guarded }, { ...guard, ...inWorld(guarded, other, pod) }),
    ).toMatchObject({ allowed: true });
    const elsewhere = policy({ selector: { matchLabels: { app: "none" } } });
    expect(await answer({ object: elsewhere }, { ...guard, ...inWorld(pod) })).toMatchObject({ allowed: true });
  });

  it.each([
    [
      "another caller that is named",
      allow(from({ principals: ["cluster.local/ns/shop/sa/web", "cluster.local/ns/shop/sa/cart"] })),
      named,
    ],
    ["a path for a caller that is named", allow({ ...from({ namespaces: ["y"] }), ...to({ paths: ["/a"] }) }), named],
    [
      "a narrower ALLOW",
      allow({ ...from({ principals: ["*"] }), ...to({ paths: ["/a"] }) }),
      allow(from({ principals: ["*"] })),
    ],
    ["a wider DENY", deny(to({ paths: ["/a*"] })), deny(to({ paths: ["/a"] }))],
    ["a first ALLOW", named, undefined],
    ["fewer issuers", tokens({ issuer: "a" }), tokens({ issuer: "a" }, { issuer: "b" })],
    ["fewer audiences", tokens({ issuer: "a", audiences: ["x"] }), tokens({ issuer: "a", audiences: ["x", "y"] })],
  ])("allows %s", async (_what, next, before) => {
    const change = before === undefined ? { object: next } : { operation: "UPDATE", object: next, oldObject: before };
    expect(await answer(change, guard)).toMatchObject({ allowed: true });
  });

  it("refuses, and in time, what is too large to be compared", async () => {
    const sources = Array.from({ length: 3_000 }, (_, at) => ({
      source: { principals: [`cluster.local/ns/a/sa/${at}`] },
    }));
    const operations = Array.from({ length: 3_000 }, (_, at) => ({ operation: { paths: [`/${at}`] } }));
    const large = allow({ from: sources, to: operations });
    const change = { operation: "UPDATE", object: allow({ from: sources, to: operations.slice(1) }), oldObject: large };
    expect((await answer(change, guard)).message).toContain("too large to be compared");
    // What hides behind many entries is found.
    const last = { from: [...sources.slice(0, 300), { source: { principals: ["*"] } }] };
    const hiding = { operation: "UPDATE", object: allow(last), oldObject: allow({ from: sources.slice(0, 300) }) };
    expect((await answer(hiding, guard)).message).toContain("lets requests through");
  });

  it("sees what a policy of the root namespace opens, wherever the webhook stands", async () => {
    const root = policy({ action: "DENY", rules: [{}] }, { namespace: "mesh-root" });
    const { loaded, ...rest } = worldOf(root, pod);
    const world = async () => ({
      ...rest,
      loaded: { ...loaded, meshConfig: { ...loaded.meshConfig, rootNamespace: "mesh-root" } },
    });
    const change = { operation: "DELETE", oldObject: root, namespace: "mesh-root" };
    const { allowed, message } = await answer(change, { ...guard, world });
    expect({ allowed, message }).toEqual({ allowed: false, message: expect.stringContaining("shop/web-1") });
    expect(await answer(change, guard)).toMatchObject({ allowed: false });
  });

  it("allows what the object says is meant", async () => {
    const meant = policy({}, { annotations: { "admission.portolan.dev/accept": "closes" } });
    expect(await answer({ object: meant }, guard)).toMatchObject({ allowed: true });
  });

  it("looks at no dry run of a policy", async () => {
    const tried = policy({}, { annotations: { "istio.io/dry-run": "true" } });
    expect(await answer({ object: tried }, guard)).toMatchObject({ allowed: true });
  });
});
