import { readFileSync } from "node:fs";
import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { anyPack, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ResourceSchema, ResourcesSchema } from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { GatewaySchema } from "../../gen/istio/networking/v1alpha3/gateway_pb.ts";
import { ServiceEntrySchema } from "../../gen/istio/networking/v1alpha3/service_entry_pb.ts";
import { mcpKinds } from "../../lib/mcp/kinds.ts";
import { type McpOriginOptions, mcpOrigin } from "../../lib/mcp/origin.ts";
import { resourceStream } from "../../lib/mcp/resource-stream.ts";
import { xdsStream } from "../../lib/mcp/xds-stream.ts";
import type { OriginObject } from "../../lib/registry/origin/origin.ts";
import type { Pace } from "../../lib/registry/origin/retry.ts";
import { unpacked } from "../collect/fake-origin.ts";
import { entry, eventually, startTestSource, type TestSource } from "./test-source.ts";

const collection = "istio/networking/v1alpha3/serviceentries";
const synthetic = "istio/networking/v1alpha3/synthetic/serviceentries";
const typeUrls = ["networking.istio.io/v1alpha3/ServiceEntry", "networking.istio.io/v1/ServiceEntry"];
const entries = mcpKinds.filter(({ kind }) => kind === "ServiceEntry");

/** Settles at once: pauses last as long as it takes for what is on its way to come. */
const brisk: Pace = {
  pause: (milliseconds, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds === 3000 ? 60 : 5);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    }),
  backOff: () => 1,
};

let source: TestSource;
let stop: AbortController;
let following: Promise<void>;
const lines: string[] = [];
const warnings: string[] = [];
const parts = new Map<string, readonly OriginObject[]>();

beforeEach(async () => {
  source = await startTestSource();
  stop = new AbortController();
  lines.length = 0;
  warnings.length = 0;
  parts.clear();
});

afterEach(async () => {
  stop.abort();
  await following;
  await source.close();
});

function follow(protocol: McpOriginOptions["protocol"], kinds = entries, incremental = true): void {
  const transport = createGrpcTransport({ baseUrl: source.url });
  const stream = protocol === "xds" ? xdsStream(transport) : resourceStream(transport, incremental);
  const origin = mcpOrigin({
    stream,
    protocol,
    address: "mcp://source.test:9901",
    kinds,
    node: "portolan",
    pace: brisk,
    onWarning: (text) => warnings.push(text),
  });
  following = origin.follow(
    {
      whole(part, objects) {
        parts.set(part, unpacked(objects));
        lines.push(
          `whole ${part}: ${unpacked(objects)
            .map(({ key, version }) => `${key}@${version}`)
            .join(" ")}`,
        );
        return true;
      },
      absent: () => false,
      changed: (part) => lines.push(`changed ${part}`) > 0,
      failed: (part, reason) => lines.push(`failed ${part}: ${reason}`),
      followed: (part) => lines.push(`followed ${part}`),
    },
    stop.signal,
  );
}

const wholes = () => lines.filter((line) => line.startsWith("whole"));

/** The stream that was opened last, when it has asked for everything. */
async function lastStream(count = 1) {
  await source.opened(count);
  const stream = source.streams.at(-1);
  if (stream === undefined) throw new Error("no stream");
  await stream.until(2);
  return stream;
}

describe("a sink of ResourceSource", () => {
  it("asks for each collection, answers each push with its nonce, and tells the whole when all have been answered", async () => {
    follow("resources");
    const stream = await lastStream();
    expect(stream.requests.map(({ collection: name, responseNonce }) => [name, responseNonce])).toEqual([
      [synthetic, ""],
      [collection, ""],
    ]);
    stream.push({ collection, nonce: "n1", resources: [entry("shop/b", "b.test"), entry("shop/a", "a.test")] });
    await stream.until(3);
    expect(stream.requests[2]).toMatchObject({ collection, responseNonce: "n1" });
    expect(stream.requests[2]?.errorDetail).toBeUndefined();
    // Nothing is told of it but that it is owed.
    await eventually(() => lines.length > 0);
    expect(lines).toEqual([`failed ServiceEntry: the source has not answered for ${synthetic}`]);
    stream.push({ collection: synthetic, nonce: "n2" });
    await eventually(() => wholes().length === 1);
    expect(wholes()).toEqual(["whole ServiceEntry: ServiceEntry/shop/a@1 ServiceEntry/shop/b@1"]);
    expect(parts.get("ServiceEntry")?.[0]?.object).toEqual({
      apiVersion: "networking.istio.io/v1alpha3",
      kind: "ServiceEntry",
      metadata: { name: "a", namespace: "shop" },
      spec: {
        hosts: ["a.test"],
        ports: [{ number: 80, protocol: "HTTP", name: "http" }],
        location: "MESH_INTERNAL",
        resolution: "STATIC",
        endpoints: [{ address: "10.0.0.1" }],
      },
    });
  });

  it("takes increments and the whole as they come, whatever it asked for", async () => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/a", "a.test"), entry("n/b", "b.test")] });
    await eventually(() => wholes().length === 1);
    stream.push({
      collection,
      nonce: "2",
      incremental: true,
      resources: [entry("n/c", "c.test")],
      removedResources: ["n/a"],
    });
    await eventually(() => wholes().length === 2);
    // What is removed counts with increments only.
    stream.push({ collection, nonce: "3", resources: [entry("n/a", "a.test", "7")], removedResources: ["n/a"] });
    await eventually(() => wholes().length === 3);
    expect(wholes().slice(1)).toEqual([
      "whole ServiceEntry: ServiceEntry/n/b@1 ServiceEntry/n/c@1",
      "whole ServiceEntry: ServiceEntry/n/a@7",
    ]);
  });

  it("believes on a new stream neither what is stale nor what is empty, but what stays", async () => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/stale", "stale.test")] });
    await new Promise((resolve) => setTimeout(resolve, 20));
    stream.push({ collection, nonce: "2" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    stream.push({ collection, nonce: "3", resources: [entry("n/right", "right.test")] });
    await eventually(() => wholes().length === 1);
    expect(lines).toEqual(["whole ServiceEntry: ServiceEntry/n/right@1"]);
  });

  it("keeps what it has over a break that begins with stale and empty answers", async () => {
    follow("resources");
    let stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/a", "a.test", "6")] });
    await eventually(() => wholes().length === 1);
    source.cut();
    stream = await lastStream(2);
    // The source may leave out what the sink has.
    expect(stream.requests[1]?.initialResourceVersions).toEqual({ "n/a": "6" });
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/old", "old.test")] });
    stream.push({ collection, nonce: "2" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    stream.push({ collection, nonce: "3", resources: [entry("n/a", "a.test", "6")] });
    await eventually(() => lines.at(-1) === "followed ServiceEntry");
    expect(wholes()).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("failed"))).toHaveLength(1);
  });

  it("believes an empty answer in the middle of a stream only after a while", async () => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/a", "a.test")] });
    await eventually(() => wholes().length === 1);
    stream.push({ collection, nonce: "2" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    stream.push({ collection, nonce: "3", resources: [entry("n/a", "a.test", "2")] });
    await eventually(() => wholes().length === 2);
    stream.push({ collection, nonce: "4" });
    await eventually(() => wholes().length === 3);
    expect(wholes().slice(1)).toEqual(["whole ServiceEntry: ServiceEntry/n/a@2", "whole ServiceEntry: "]);
  });

  it("refuses a collection that it did not ask for, and the stream stays", async () => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: "istio/other", nonce: "1", resources: [entry("n/a", "a.test")] });
    await stream.until(3);
    expect(stream.requests[2]).toMatchObject({
      collection: "istio/other",
      responseNonce: "1",
      errorDetail: { code: 12, message: "istio/other was not asked for" },
    });
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1" });
    await eventually(() => wholes().length === 1);
    expect(source.streams).toHaveLength(1);
  });

  it("leaves out one resource that is no use, keeps its former form, and takes the rest", async () => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/a", "a.test")] });
    await eventually(() => wholes().length === 1);
    const bad = entry("n/a", "other.test", "2");
    if (bad.metadata !== undefined) bad.metadata.createTime = create(TimestampSchema, { seconds: 10n ** 12n });
    stream.push({ collection, nonce: "2", resources: [bad, entry("n/b", "b.test")] });
    await eventually(() => wholes().length === 2);
    expect(wholes()[1]).toBe("whole ServiceEntry: ServiceEntry/n/a@1 ServiceEntry/n/b@1");
    expect(warnings).toEqual(["left out: n/a was created at no time that there is"]);
    expect(stream.requests.at(-1)?.errorDetail).toBeUndefined();
  });

  it("takes a resource that is not valid as it is, for the compile to refuse", async () => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/A", "a.test")] });
    await eventually(() => wholes().length === 1);
    stream.push({ collection, nonce: "2", resources: [entry("n/A", "not a host", "2"), entry("n/b", "b.test")] });
    await eventually(() => wholes().length === 2);
    expect(wholes()[1]).toBe("whole ServiceEntry: ServiceEntry/n/A@2 ServiceEntry/n/b@1");
    expect(warnings).toEqual([]);
    expect(stream.requests.at(-1)?.errorDetail).toBeUndefined();
  });

  it.each([
    ["of another kind", anyPack(GatewaySchema, create(GatewaySchema, {})), "istio.networking.v1alpha3.Gateway"],
    [
      "that cannot be read",
      { typeUrl: `type.googleapis.com/${ServiceEntrySchema.typeName}`, value: new Uint8Array([255, 255, 1]) },
      "cannot be read",
    ],
  ])("refuses an answer with a body %s, says so, and keeps what it has", async (_what, body, message) => {
    follow("resources");
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/a", "a.test")] });
    await eventually(() => wholes().length === 1);
    stream.push({ collection, nonce: "2", resources: [create(ResourceSchema, { metadata: { name: "n/b" }, body })] });
    await stream.until(5);
    expect(stream.requests.at(-1)).toMatchObject({ responseNonce: "2", errorDetail: { code: 3 } });
    expect(stream.requests.at(-1)?.errorDetail?.message).toContain(message);
    expect(lines.at(-1)).toContain("failed ServiceEntry: the source's content");
    stream.push({ collection, nonce: "3", resources: [entry("n/a", "a.test")] });
    await eventually(() => lines.at(-1) === "followed ServiceEntry");
    expect(wholes()).toHaveLength(1);
  });

  it("tries again and again while the source is away", async () => {
    const { url } = source;
    await source.close();
    follow("resources");
    await eventually(() => lines.length >= 3);
    expect(lines[0]).toContain("failed ServiceEntry:");
    source = await startTestSource(Number(new URL(url).port));
    const stream = await lastStream();
    stream.push({ collection: synthetic, nonce: "s" });
    stream.push({ collection, nonce: "1", resources: [entry("n/a", "a.test")] });
    await eventually(() => wholes().length === 1);
  });
});

describe("a sink of MCP over xDS", () => {
  it("asks for both versions of a kind, acknowledges, and tells what either has", async () => {
    follow("xds");
    await source.opened(1);
    const [stream] = source.xdsStreams;
    await stream?.until(2);
    expect(stream?.requests.map(({ typeUrl, node }) => [typeUrl, node?.id, node?.metadata])).toEqual(
      typeUrls.map((typeUrl) => [typeUrl, "portolan", { GENERATOR: "api" }]),
    );
    const [v1alpha3 = "", v1 = ""] = typeUrls;
    stream?.push({
      typeUrl: v1alpha3,
      versionInfo: "v7",
      nonce: "n1",
      resources: [anyPack(ResourceSchema, entry("n/a", "a.test")), anyPack(ResourceSchema, entry("noslash", "b.test"))],
    });
    await stream?.until(3);
    expect(stream?.requests[2]).toMatchObject({ typeUrl: v1alpha3, versionInfo: "v7", responseNonce: "n1" });
    stream?.push({ typeUrl: v1, versionInfo: "v7", nonce: "n2" });
    await eventually(() => wholes().length === 1);
    expect(wholes()).toEqual(["whole ServiceEntry: ServiceEntry/n/a@1"]);
    expect(warnings).toEqual(['left out: "noslash" is no name of a ServiceEntry']);
    stream?.push({
      typeUrl: v1,
      versionInfo: "v8",
      nonce: "n3",
      resources: [anyPack(ResourceSchema, entry("n/a", "newer.test", "2"))],
    });
    await eventually(() => wholes().length === 2);
    expect(wholes()[1]).toBe("whole ServiceEntry: ServiceEntry/n/a@2");
    stream?.push({
      typeUrl: v1,
      versionInfo: "v9",
      nonce: "n4",
      resources: [anyPack(GatewaySchema, create(GatewaySchema))],
    });
    await stream?.until(6);
    expect(stream?.requests[5]).toMatchObject({ versionInfo: "v8", responseNonce: "n4", errorDetail: { code: 3 } });
  });
});

/** A resource as the recordings have it: its body as JSON with its type beside it. */
interface RecordedResource {
  readonly metadata: JsonValue;
  readonly body: { readonly "@type": string; readonly [field: string]: JsonValue };
}

function fromRecord({ metadata, body: { "@type": _type, ...spec } }: RecordedResource) {
  const resource = fromJson(ResourceSchema, { metadata });
  resource.body = anyPack(ServiceEntrySchema, fromJson(ServiceEntrySchema, spec));
  return resource;
}

const recorded = (file: string) =>
  JSON.parse(readFileSync(new URL(`../captured/nacos/${file}.json`, import.meta.url), "utf8"));

describe("the recorded streams of Nacos", () => {
  const reviews = "ServiceEntry/public/reviews.DEFAULT-GROUP.public";

  it("replay to the right state over ResourceSource", async () => {
    follow("resources");
    const stream = await lastStream();
    const pushes: readonly { readonly nonce: string; readonly resources: readonly RecordedResource[] }[] =
      recorded("mcp-resources-stream");
    stream.push({ collection: synthetic, nonce: "s" });
    for (const push of pushes) {
      const resources = push.resources.map(fromRecord);
      stream.push({ ...create(ResourcesSchema, { collection, nonce: push.nonce }), resources });
    }
    await eventually(() => wholes().length === 1);
    expect(wholes()).toEqual([`whole ServiceEntry: ServiceEntry/public/ratings.shop.public@2 ${reviews}@4`]);
    const found = parts.get("ServiceEntry")?.find(({ key }) => key === reviews);
    expect(found?.object).toMatchObject({
      metadata: {
        name: "reviews.DEFAULT-GROUP.public",
        namespace: "public",
        labels: { registryType: "nacos" },
        creationTimestamp: "2026-11-21T02:15:18Z",
      },
      spec: pushes.at(-1)?.resources.map(({ body: { "@type": _type, ...spec } }) => spec)[1],
    });
    expect(stream.requests.slice(3).map(({ responseNonce }) => responseNonce)).toEqual(
      pushes.map(({ nonce }) => nonce),
    );
  });

  it("replay to the right state over xDS, the stale start included", async () => {
    const kinds = mcpKinds.filter(({ kind }) => kind === "ServiceEntry" || kind === "VirtualService");
    follow("xds", kinds);
    await source.opened(1);
    const [stream] = source.xdsStreams;
    await stream?.until(4);
    const [stale, virtualServices, fresh]: readonly {
      readonly typeUrl: string;
      readonly resources: readonly RecordedResource[];
    }[] = recorded("mcp-over-xds-stream");
    if (stale === undefined || virtualServices === undefined || fresh === undefined) throw new Error("recording?");
    const push = ({ typeUrl, resources }: typeof stale, nonce: string) =>
      stream?.push({
        typeUrl,
        nonce,
        versionInfo: nonce,
        resources: resources.map((one) => anyPack(ResourceSchema, fromRecord(one))),
      });
    // Of what it does not know, Nacos says that there is none.
    for (const typeUrl of ["networking.istio.io/v1/ServiceEntry", "networking.istio.io/v1/VirtualService"]) {
      push({ typeUrl, resources: [] }, "0");
    }
    push(stale, "1");
    push(virtualServices, "2");
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Once it was seen to be empty in between.
    push({ ...stale, resources: [] }, "3");
    await new Promise((resolve) => setTimeout(resolve, 20));
    push(fresh, "4");
    await eventually(() => wholes().length === 2);
    expect(lines).toEqual([
      `whole ServiceEntry: ServiceEntry/public/ratings.shop.public@3 ${reviews}@6`,
      "whole VirtualService: ",
    ]);
  });
});
