import { brotliCompressSync, gzipSync } from "node:zlib";
import type { AttackClass } from "./attack-class.ts";
import type { Clients } from "./clients.ts";
import type { Random } from "./random.ts";
import { secrets } from "./target.ts";
import { impostor, nodeOf, pollOf, victim } from "./world.ts";

const clusters = "/v3/discovery:clusters";
const json = { "content-type": "application/json" };
const post = (clients: Clients, path: string, body: string | Uint8Array, headers = {}) =>
  clients.http({ path, body, headers: { ...json, ...headers } });

const polls = (["clusters", "listeners"] as const).map((type) => pollOf(type, victim));
const { extensions: _extensions, ...bare } = victim;
const small = pollOf("clusters", bare);
const megabyte = "x".repeat(1_000_000);
const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
const gzipBomb = gzipSync(Buffer.alloc(60_000_000, " "));
const brotliBomb = brotliCompressSync(Buffer.alloc(60_000_000, " "));
const prototypes = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "isPrototypeOf"] as const;
const names = JSON.stringify(Array.from({ length: 150_000 }, () => "80"));

const pick = <T>(random: Random, from: readonly [T, ...T[]]): T => from[random(from.length)] ?? from[0];
const word = (random: Random) => random(2 ** 30).toString(36);

/** A valid body with something in it replaced, cut out, doubled or put in. */
function damaged(random: Random): Buffer {
  const body = Buffer.from(small);
  const at = random(body.length);
  const rest = body.subarray(Math.min(at + random(30), body.length));
  const bytes = Buffer.from(Array.from({ length: random(20) }, () => random(256)));
  return Buffer.concat([body.subarray(0, at), bytes, rest]);
}

export const restAttacks: readonly AttackClass[] = [
  {
    name: "polls as Envoy sends them",
    transport: "REST",
    share: 150,
    ends: ["200"],
    send: (clients, random) => {
      const at = random(2);
      return post(clients, `/v3/discovery:${at === 0 ? "clusters" : "listeners"}`, polls[at] ?? "");
    },
  },
  {
    name: "the victim's id, other labels",
    transport: "REST",
    share: 150,
    ends: ["200"],
    send: (clients, random) => {
      const labels = { app: pick(random, ["reviews", "catalog", word(random)]), [word(random)]: word(random) };
      return post(
        clients,
        "/v3/discovery:listeners",
        pollOf("listeners", impostor(labels), pick(random, [undefined, "1"])),
      );
    },
  },
  {
    name: "ids, clusters, versions of 1 MB",
    transport: "REST",
    share: 10,
    ends: ["400"],
    send: (clients, random) => {
      const big = word(random) + megabyte;
      const request = pick(random, [
        { node: { ...bare, id: big } },
        { node: { ...bare, cluster: big } },
        { node: bare, version_info: big },
        { node: { ...bare, metadata: { LABELS: { app: big } } } },
        { node: bare, resource_names: [big] },
      ]);
      return post(clients, clusters, JSON.stringify(request));
    },
  },
  {
    name: "ids of a kilobyte, always others",
    transport: "REST",
    share: 120,
    ends: ["200", "404"],
    send: (clients, random) => {
      const name = `${word(random)}${"y".repeat(900 - random(100))}`;
      const node = pick(random, [
        { ...bare, id: `sidecar~10.0.0.1~${name}.bookshop~bookshop.svc.cluster.local` },
        { id: name, cluster: name },
      ]);
      return post(clients, clusters, pollOf("clusters", node, word(random)));
    },
  },
  {
    name: "refusals under made-up names",
    transport: "REST",
    share: 60,
    ends: ["200", "404"],
    send: async (clients, random) => {
      const node = { ...nodeOf(`n${random(20_000)}`, { app: "storefront" }), extensions: [] };
      return post(clients, clusters, pollOf("clusters", node, "kept"));
    },
  },
  {
    name: "/refusals, /metrics, /healthz",
    transport: "REST",
    share: 6,
    ends: ["200"],
    send: (clients, random) =>
      clients.http({ method: "GET", path: pick(random, ["/refusals", "/metrics", "/healthz"]) }),
  },
  {
    name: "one name 150,000 times",
    transport: "REST",
    share: 4,
    ends: ["200", "404"],
    send: (clients) =>
      post(clients, "/v3/discovery:routes", `{"node":${JSON.stringify(bare)},"resource_names":${names}}`),
  },
  {
    name: "100,000 levels deep",
    transport: "REST",
    share: 6,
    ends: ["400"],
    send: (clients, random) =>
      post(
        clients,
        pick(random, [clusters, "/v3/delta:clusters"]),
        pick(random, [
          `{"node":{"id":"a","metadata":{"LABELS":${deep}}}}`,
          "[".repeat(1_000_000),
          `{"node":${deep},"extensions":[1]},"type_url":""}`,
        ]),
      ),
  },
  {
    name: "names of every JavaScript object",
    transport: "REST",
    share: 60,
    ends: ["200", "400", "404"],
    send: (clients, random) => {
      const name = () => pick(random, prototypes);
      const body = `{"node":{"id":"sidecar~10.0.0.1~${name()}.${name()}~${name()}.svc.cluster.local","cluster":"${name()}","metadata":{"NAMESPACE":"${name()}","LABELS":{"${name()}":{"${name()}":1}},"${name()}":1}},"resource_names":["${name()}"],"initial_resource_versions":{"${name()}":"1"}}`;
      return post(
        clients,
        pick(random, [clusters, "/v3/discovery:routes", "/v3/delta:routes", "/v3/delta:clusters"]),
        body,
      );
    },
  },
  {
    name: "damaged bodies",
    transport: "REST",
    share: 100,
    ends: ["200", "400", "404"],
    send: (clients, random) => post(clients, pick(random, [clusters, "/v3/delta:clusters"]), damaged(random)),
  },
  {
    name: "bodies that grow when unpacked",
    transport: "REST",
    share: 20,
    ends: ["415"],
    send: (clients, random) => {
      const [encoding, body] = pick(random, [
        ["gzip", gzipBomb],
        ["br", brotliBomb],
      ] as const);
      return post(clients, clusters, body, { "content-encoding": encoding });
    },
  },
  {
    name: "bodies of 16 MB",
    transport: "REST",
    share: 2,
    ends: ["413", "closed"],
    send: (clients) => post(clients, clusters, Buffer.alloc(16_000_000, " ")),
  },
  {
    name: "bodies without end",
    transport: "REST",
    share: 2,
    ends: ["413", "closed"],
    send: (clients, random) => clients.endless(pick(random, [clusters, "/v3/delta:clusters"]), 400_000_000),
  },
  {
    name: "deltas of those who say they have everything",
    transport: "REST",
    share: 10,
    ends: ["200"],
    send: (clients, random) => {
      const known = Object.fromEntries(Array.from({ length: 5_000 }, () => [word(random), "1"]));
      const body = JSON.stringify({ node: bare, initial_resource_versions: known });
      return post(clients, "/v3/delta:clusters", body);
    },
  },
  {
    name: "what a page of another site may send",
    transport: "REST",
    share: 20,
    ends: ["415", "421"],
    send: (clients, random) => {
      const host = pick(random, ["evil.test", "127.0.0.1.evil.test", "localhost.evil.test:80"]);
      const type = pick(random, ["text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", ""]);
      return random(2) === 0
        ? clients.http({
            method: "GET",
            path: pick(random, ["/api/overview", "/v3/head", "/metrics"]),
            headers: { host },
          })
        : clients.http({ path: clusters, body: small, headers: type === "" ? {} : { "content-type": type } });
    },
  },
  {
    name: "certificates that take long to read",
    transport: "REST",
    share: 10,
    ends: ["401"],
    send: (clients, random) => {
      const piece = pick(random, ['\\"', '"', ",", ";", 'URI="', "URI=spiffe://a;"]);
      return clients.http({
        to: "guarded",
        path: clusters,
        body: small,
        headers: {
          ...json,
          "x-portolan-proxy": secrets.proxy,
          "x-forwarded-client-cert": piece.repeat(Math.floor(15_000 / piece.length)),
        },
      });
    },
  },
  {
    name: "localities of nothing but slashes",
    transport: "REST",
    share: 5,
    ends: ["200"],
    send: (clients) => {
      const locality = { region: "a", zone: "b", sub_zone: `${"/".repeat(60_000)}c` };
      return post(clients, clusters, pollOf("clusters", { ...bare, locality }));
    },
  },
  {
    name: "paths and methods that are not there",
    transport: "REST",
    share: 30,
    ends: ["404", "400"],
    send: (clients, random) =>
      clients.http({
        headers: json,
        method: pick(random, ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
        path: pick(random, [
          `/v3/discovery:${word(random)}`,
          `/${"a/".repeat(random(1_000))}`,
          "/../../etc/passwd",
          "/v3/%2e%2e%2fdiscovery",
          "/v3/discovery:constructor",
          `/x?${word(random)}`,
        ]),
      }),
  },
];
