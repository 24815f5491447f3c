import { createHash, createHmac, randomUUID } from "node:crypto";
import { signRequest } from "../../lib/compile/webhook/signature.ts";
import type { AttackClass } from "./attack-class.ts";
import type { Clients, Outcome } from "./clients.ts";
import type { Random } from "./random.ts";
import { secrets } from "./target.ts";

const pick = <T>(random: Random, from: readonly [T, ...T[]]): T => from[random(from.length)] ?? from[0];
const word = (random: Random) => random(2 ** 30).toString(36);
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: Uint8Array<ArrayBuffer>;
}

const deep = bytesOf("[".repeat(1_000_000));
const large = new Uint8Array(9_000_000);

/** Whoever does not stop sending when he is answered may lose his connection. */
const lastOfConnection = { connection: "close" };

/** What somebody may want to be done. */
function writeOf(random: Random): Write {
  const key = `/objects/sources/main/${word(random)}`;
  return pick<Write>(random, [
    { method: "POST", path: "/hooks/recompile" },
    { method: "POST", path: "/sources/main", body: bytesOf(`{"files":[{"file":"a.yaml","text":"${word(random)}"}]}`) },
    { method: "PUT", path: key, body: bytesOf(word(random)) },
    { method: "DELETE", path: key },
    { method: "GET", path: key },
    { method: "GET", path: "/objects/?prefix=sources/main/" },
  ]);
}

const send = (clients: Clients, { method, path, body = new Uint8Array() }: Write, headers = {}): Promise<Outcome> =>
  clients.http({ to: "compile", method, path, headers, body });

const signed = ({ method, path, body = new Uint8Array() }: Write, delivery: string, nowMs = Date.now()) =>
  signRequest(secrets.operator, { method, target: path, body }, delivery, nowMs);

/** What a webhook of GitHub may bring, good or not, signed by a secret. */
function deliver(
  clients: Clients,
  random: Random,
  { path, secret }: { readonly path: string; readonly secret: string },
) {
  const body = pick(random, [deep, bytesOf("x"), bytesOf('{"ref":"a","repository":{"pushed_at":1}}'), bytesOf("{")]);
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = { "x-hub-signature-256": signature, "content-type": "application/json", "x-gitlab-token": "guessed" };
  return send(clients, { method: "POST", path, body }, headers);
}

export const writeAttacks: readonly AttackClass[] = [
  {
    name: "requests that nobody has signed",
    transport: "webhook",
    share: 40,
    ends: ["401"],
    send: (clients, random) => {
      const hex = createHash("sha256").update(word(random)).digest("hex");
      return send(
        clients,
        writeOf(random),
        pick<Readonly<Record<string, string>>>(random, [
          {},
          { "x-portolan-signature": `sha256=${hex}` },
          { "x-portolan-signature": `sha256=${hex}`, "x-portolan-timestamp": "NaN", "idempotency-key": "a" },
          {
            "x-portolan-signature": `sha256=${hex}`,
            "x-portolan-timestamp": String(Math.floor(Date.now() / 1000)),
            "x-portolan-content-sha256": hex,
            "idempotency-key": "a",
          },
        ]),
      );
    },
  },
  {
    name: "bodies of 9 MB that nobody has signed",
    transport: "webhook",
    share: 1,
    ends: ["401", "closed"],
    send: (clients, random) => {
      const path = pick(random, ["/sources/main", "/hooks/recompile"]);
      return send(clients, { method: "POST", path, body: large }, lastOfConnection);
    },
  },
  {
    name: "forges that are none",
    transport: "webhook",
    share: 20,
    ends: ["401"],
    send: (clients, random) => {
      const path = pick(random, ["/hooks/github/main", "/hooks/github/constructor", "/hooks/gitlab/main"]);
      const isOthers = path !== "/hooks/github/main" && random(2) === 0;
      return deliver(clients, random, { path, secret: isOthers ? secrets.github : word(random) });
    },
  },
  {
    // An event that is no push is passed over, and a push that does not say when it was is refused.
    name: "a forge that sends what it likes",
    transport: "webhook",
    share: 10,
    ends: ["200", "401"],
    send: (clients, random) => deliver(clients, random, { path: "/hooks/github/main", secret: secrets.github }),
  },
  {
    name: "signed for something else",
    transport: "objects",
    share: 30,
    ends: ["401"],
    send: async (clients, random) => {
      const one = { method: "PUT", path: `/objects/sources/main/${word(random)}`, body: bytesOf("a: 1") };
      const other = pick<Write>(random, [
        { ...one, method: "DELETE" },
        { ...one, path: "/objects/sources/main/another" },
        { ...one, path: `${one.path}?x=1` },
        { ...one, body: bytesOf("a: 2") },
        { method: "POST", path: "/hooks/recompile" },
      ]);
      return send(clients, other, await signed(one, randomUUID()));
    },
  },
  {
    name: "the same PUT or DELETE twice",
    transport: "objects",
    share: 10,
    ends: ["409"],
    send: async (clients, random) => {
      const text = `a: ${random(100)}`;
      const path = `/objects/sources/main/ledger/blobs/${createHash("sha256").update(text).digest("hex")}`;
      const write = pick<Write>(random, [
        { method: "PUT", path, body: bytesOf(text) },
        { method: "DELETE", path },
      ]);
      const headers = await signed(write, randomUUID());
      const first = await send(clients, write, headers);
      return first.status === "204" ? send(clients, write, headers) : first;
    },
  },
  {
    name: "keys out of place",
    transport: "objects",
    share: 20,
    ends: ["400", "401", "403", "404"],
    send: async (clients, random) => {
      const path = pick(random, [
        "/objects/HEAD",
        "/objects/sources/other/a",
        "/objects/sources/main/%2e%2e/%2e%2e/HEAD",
        "/objects/sources/main/..%2f..%2fHEAD",
        "/objects/sources/main/%00",
        "/objects/sources/constructor/a",
        `/objects/sources/main/${"a/".repeat(random(2_000))}`,
      ]);
      const write = { method: pick(random, ["GET", "PUT", "DELETE"]), path };
      return send(clients, write, await signed(write, randomUUID()));
    },
  },
  {
    name: "objects of 9 MB",
    transport: "objects",
    share: 1,
    ends: ["413", "closed"],
    send: async (clients) => {
      const write = { method: "PUT", path: "/objects/sources/main/large", body: large };
      // Nobody reads as far as its hash.
      const headers = await signed({ ...write, body: bytesOf("") }, randomUUID());
      return send(clients, write, { ...headers, ...lastOfConnection });
    },
  },
];
