import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AggregatedDiscoveryService } from "../../../gen/envoy/service/discovery/v3/ads_pb.ts";
import { createLocalState, type LocalState } from "../../../lib/agent/xds/local-host.ts";
import { type LocalServer, serveLocal } from "../../../lib/agent/xds/local-server.ts";
import { secretTypeUrl } from "../../../lib/secrets/tls-secret.ts";
import { type CoreType, typeOfUrl, typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { offer, type Versions } from "./offers.ts";

interface Ask {
  readonly typeUrl: string;
  readonly resourceNamesSubscribe?: string[];
  readonly initialResourceVersions?: Record<string, string>;
  readonly responseNonce?: string;
  readonly errorDetail?: { readonly code: number; readonly message: string };
}

/** A delta stream over a socket: what is asked is answered by hand. */
function openStream(path: string) {
  const client = createClient(
    AggregatedDiscoveryService,
    createGrpcTransport({ baseUrl: "http://agent", nodeOptions: { createConnection: () => connect(path) } }),
  );
  const asks: Ask[] = [];
  let wake = () => {};
  async function* requests() {
    for (;;) {
      for (let ask = asks.shift(); ask !== undefined; ask = asks.shift()) yield ask;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const answers = client.deltaAggregatedResources(requests())[Symbol.asyncIterator]();
  const ask = (one: Ask) => {
    asks.push(one);
    wake();
  };
  return {
    ask,
    /** The next answer, as `+a=1` and `-b`. */
    async next() {
      const step = await answers.next();
      if (step.done === true) throw new Error("the stream has ended");
      const { value } = step;
      const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
      return {
        type: value.typeUrl === secretTypeUrl ? "secrets" : typeOfUrl(value.typeUrl),
        said: [
          ...value.resources.map(({ name, resource }) =>
            value.typeUrl === secretTypeUrl ? `+${name}` : `+${text(resource?.value)}`,
          ),
          ...value.removedResources.map((name) => `-${name}`),
        ],
        accept: () => ask({ typeUrl: value.typeUrl, responseNonce: value.nonce }),
        refuse: (message: string) =>
          ask({ typeUrl: value.typeUrl, responseNonce: value.nonce, errorDetail: { code: 13, message } }),
      };
    },
    ended: async () => answers.next().then(() => "", String),
  };
}

describe("an agent's server for its Envoy", () => {
  let folder: string;
  let path: string;
  let state: LocalState;
  let server: LocalServer;
  let heard: string[];
  let errors: unknown[];
  let listener: unknown;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-local-"));
    path = join(folder, "xds", "socket");
    heard = [];
    state = createLocalState();
    errors = [];
    const listen = vi.spyOn(Server.prototype, "listen");
    const hostOf = () =>
      state.host({
        connected: () => heard.push("connected"),
        hasFromBefore: (type, versions) =>
          heard.push(`knows ${type} ${[...versions].map((pair) => pair.join("=")).join()}`),
        accepted: (type, resources) =>
          heard.push(`accepted ${type} ${resources.map(({ name, version }) => `${name}=${version}`).join()}`),
        settled: () => heard.push("settled"),
        refused: ({ type, named, answered, words }) =>
          heard.push(`refused ${type} ${named}/${answered.map(({ name, version }) => `${name}=${version}`)}: ${words}`),
      });
    server = await serveLocal(path, hostOf, (cause) => errors.push(cause));
    [listener] = listen.mock.contexts;
    listen.mockRestore();
  });
  afterEach(async () => {
    state.close();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const tell = (versions: Versions) => state.offer(offer(versions));
  const url = (type: CoreType) => typeUrlOf(type);

  it("answers at a socket that is its user's alone, in the place of one that a killed agent has left", async () => {
    expect((await stat(join(folder, "xds"))).mode & 0o777).toBe(0o700);
    const left = join(folder, "left", "socket");
    await serveLocal(join(folder, "left", "first"), () => state.host(nobody), ignore).then((one) => one.close());
    await writeFile(left, "");
    const second = await serveLocal(left, () => state.host(nobody), ignore);
    await second.close();
    await expect(serveLocal(join(folder, "x".repeat(120)), () => state.host(nobody), ignore)).rejects.toThrow(
      /has more than 103 bytes.*--dir/,
    );
  });

  it("says nothing before there is something, then what there is, and hears what is taken", async () => {
    const stream = openStream(path);
    stream.ask({ typeUrl: url("clusters") });
    await expect.poll(() => heard).toContain("connected");
    tell({ clusters: { a: "1" }, listeners: { l: "1" } });
    const clusters = await stream.next();
    expect([clusters.type, clusters.said]).toEqual(["clusters", ["+a=1"]]);
    clusters.accept();
    stream.ask({ typeUrl: url("listeners") });
    const listeners = await stream.next();
    expect(heard).not.toContain("settled");
    listeners.accept();
    await expect.poll(() => heard.at(-1)).toBe("settled");
    expect(heard).toContain("accepted clusters a=1");
    tell({ clusters: { a: "1", b: "1" }, listeners: { l: "1" } });
    expect((await stream.next()).said).toEqual(["+b=1"]);
    expect(heard.filter((one) => one === "settled")).toHaveLength(1);
  });

  it("hears which resources an Envoy refuses, in its words, and is not settled before it is told something else", async () => {
    tell({ clusters: { a: "1", b: "1" }, listeners: {} });
    const stream = openStream(path);
    stream.ask({ typeUrl: url("clusters") });
    stream.ask({ typeUrl: url("listeners") });
    const first = await stream.next();
    const second = await stream.next();
    const [clusters, listeners] = first.type === "clusters" ? [first, second] : [second, first];
    listeners.accept();
    clusters.refuse("Error adding cluster(s) b: no");
    await expect.poll(() => heard.at(-1)).toBe("refused clusters b/a=1,b=1: Error adding cluster(s) b: no");
    expect(heard).not.toContain("settled");
    tell({ clusters: { a: "1" }, listeners: {} });
    const mended = await stream.next();
    expect(mended.said).toEqual(["-b"]);
    mended.accept();
    await expect.poll(() => heard.at(-1)).toBe("settled");
  });

  it("hears that an Envoy names all that is in an answer, and that it names nothing of it", async () => {
    tell({ clusters: { a: "1", b: "1" }, listeners: {} });
    const stream = openStream(path);
    stream.ask({ typeUrl: url("clusters") });
    (await stream.next()).refuse("Error adding cluster(s) a: no, b: no");
    await expect.poll(() => heard.at(-1)).toBe("refused clusters a,b/a=1,b=1: Error adding cluster(s) a: no, b: no");
    tell({ clusters: { a: "2", b: "2" }, listeners: {} });
    (await stream.next()).refuse("out of memory");
    await expect.poll(() => heard.at(-1)).toBe("refused clusters undefined/a=2,b=2: out of memory");
  });

  it("tells an Envoy that connects again what differs from what it has, and ends its stream from before", async () => {
    tell({ clusters: { a: "1", b: "2" }, listeners: { l: "1" } });
    const before = openStream(path);
    before.ask({ typeUrl: url("clusters") });
    await before.next();
    const again = openStream(path);
    again.ask({ typeUrl: url("clusters"), initialResourceVersions: { a: "1", b: "1", c: "1" } });
    expect((await again.next()).said).toEqual(["+b=2"]);
    expect(heard).toContain("knows clusters a=1,b=1,c=1");
    expect(await before.ended()).toContain("connect again");
  });

  it("tells secrets by name, and each only when it is another", async () => {
    tell({ clusters: {}, listeners: {} });
    const secret = (name: string, key: string) => ({
      name,
      tlsCertificate: { privateKey: { inlineString: key } },
    });
    state.secrets(new Map([["default", secret("default", "one")]]));
    const stream = openStream(path);
    stream.ask({ typeUrl: secretTypeUrl, resourceNamesSubscribe: ["default", "other"] });
    const first = await stream.next();
    expect([first.type, first.said]).toEqual(["secrets", ["+default", "-other"]]);
    first.accept();
    state.secrets(new Map([["default", secret("default", "one")]]));
    state.secrets(
      new Map([
        ["default", secret("default", "one")],
        ["other", secret("other", "two")],
      ]),
    );
    expect((await stream.next()).said).toEqual(["+other"]);
  });

  it("goes on when a connection cannot be accepted, and hears of each error", async () => {
    if (!(listener instanceof Server)) throw new Error("it listens at a socket");
    // More than one, since the first may find a listener left.
    for (let i = 0; i < 3; i += 1)
      listener.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
    expect(errors.map(String)).toEqual(Array(3).fill("Error: accept EMFILE"));
    tell({ clusters: { a: "1" }, listeners: {} });
    const stream = openStream(path);
    stream.ask({ typeUrl: url("clusters") });
    expect((await stream.next()).said).toEqual(["+a=1"]);
  });

  it("serves delta ADS and nothing else", async () => {
    const client = createClient(
      AggregatedDiscoveryService,
      createGrpcTransport({ baseUrl: "http://agent", nodeOptions: { createConnection: () => connect(path) } }),
    );
    async function* nothing() {}
    const answers = client.streamAggregatedResources(nothing())[Symbol.asyncIterator]();
    await expect(answers.next()).rejects.toThrow(/only delta ADS/);
  });
});

const ignore = () => {};

const nobody = {
  connected() {},
  hasFromBefore() {},
  accepted() {},
  settled() {},
  refused() {},
};
