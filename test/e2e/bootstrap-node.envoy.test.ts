import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { NodeClaims } from "../../lib/base/classifier.ts";
import { project } from "../../lib/base/classifier.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { readPoll } from "../../lib/front/polls/poll-request.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { limits } from "../../lib/limits/limits.ts";
import { claimsOf } from "../../lib/mesh/classes/claims.ts";
import { everySort } from "../compile/pods/every-sort.ts";
import { startEnvoy } from "./envoy.ts";

/** A front that serves nothing, and the node of the first request to it. */
async function listening() {
  let heard: (node: NodeClaims | undefined) => void = () => {};
  const node = new Promise<NodeClaims | undefined>((resolve) => {
    heard = resolve;
  });
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const read = readPoll(body, limits);
      heard("request" in read ? read.request.node : undefined);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ version_info: "1", type_url: JSON.parse(body).type_url, resources: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port }: Pick<AddressInfo, "port"> = Object(server.address());
  return { url: `http://127.0.0.1:${port}`, node, close: () => server.close() };
}

it("sends the node that each workload was compiled for", async () => {
  // Its workloads name Istio's proxy as their image, and the Envoy here is a stock one.
  const options = { ...defaultWorldOptions, proxyBuild: "envoy" } as const;
  const world = worldOf(readFiles(everySort), options, createMemo()).value;
  const { classifier } = compile(world, [], createMemo()).value;
  const placed = await Promise.all(
    proxiesIn(everySort).map(async (found) => {
      const front = await listening();
      const envoy = await startEnvoy(bootstrapFor(found, front.url, 0));
      const sent = await front.node;
      await envoy.stop();
      front.close();
      return { sent: sent && project(classifier, sent), compiled: project(classifier, claimsOf(found.proxy)) };
    }),
  );
  expect(placed.map(({ sent }) => sent)).toEqual(placed.map(({ compiled }) => compiled));
}, 60_000);
