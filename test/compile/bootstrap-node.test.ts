import { describe, expect, it } from "vitest";
import { project } from "../../lib/base/classifier.ts";
import { buildIn, shortLists } from "../../lib/base/proxy-build.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { readPoll } from "../../lib/front/polls/poll-request.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { limits } from "../../lib/limits/limits.ts";
import { claimsOf } from "../../lib/mesh/classes/claims.ts";
import { asJson, isArray, isObject, type Json } from "../conformance/json.ts";
import { everySort } from "./pods/every-sort.ts";

/** As an Envoy sends a node: the members of its metadata in an order of its own. */
function reordered(value: Json): Json {
  if (isArray(value)) return value.map(reordered);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reordered(member)]),
  );
}

describe("the node of a printed bootstrap", () => {
  it.each(["shared", "istio"] as const)(
    "is placed in the class that its workload was compiled in, compat %s",
    (compat) => {
      const world = worldOf(readFiles(everySort), { ...defaultWorldOptions, compat }, createMemo()).value;
      const { classifier, nodes } = compile(world, [], createMemo()).value;
      const proxies = proxiesIn(everySort);
      expect(proxies.map(({ proxy }) => proxy)).toEqual(world.proxies);
      expect(proxies).toHaveLength(5);
      for (const [at, found] of proxies.entries()) {
        const said = reordered(asJson(bootstrapFor(found, "http://127.0.0.1:8080", 0).node));
        // No bootstrap says whose build of Envoy is started on it: the extensions that it sends do.
        const extensions = JSON.parse(shortLists[buildIn(found.proxy.metadata.raw) ?? "envoy"]);
        const node = { ...(isObject(said) ? said : {}), extensions };
        const sent = readPoll(JSON.stringify({ node }), limits);
        if ("problem" in sent) throw new Error(sent.problem);
        const projection = project(classifier, sent.request.node) ?? "";
        expect(projection).toBe(project(classifier, claimsOf(found.proxy)));
        expect(classifier.classes[projection]).toBe(nodes[at]?.classId);
      }
    },
  );
});
