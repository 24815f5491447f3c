import { describe, expect, it } from "vitest";
import { readPoll } from "../../../lib/front/polls/poll-request.ts";
import { limits } from "../../../lib/limits/limits.ts";

const node = { id: "a", cluster: "b" };
const read = (request: object) => readPoll(JSON.stringify(request), limits);

describe("readPoll", () => {
  it("takes both spellings of field names", () => {
    const body =
      '{"versionInfo":"1","node":{"id":"a","locality":{"region":"r","subZone":"s"}},"resourceNames":["x"],"typeUrl":"t"}';
    expect(readPoll(body, limits)).toEqual({
      request: {
        version: "1",
        names: ["x"],
        typeUrl: "t",
        node: { id: "a", cluster: "", metadata: {}, locality: "r//s" },
        bytes: body.length,
      },
    });
  });

  it.each([
    ["", "not JSON"],
    ["{}", "no id"],
    ['{"node":{"id":""}}', "no id"],
    ['{"node":{"id":"a"},"version_info":1}', "version_info"],
    ['{"node":{"id":"a"},"resource_names":"x"}', "resource_names"],
    ['{"node":{"id":"a"},"resource_names":[1]}', "resource_names"],
    ['{"node":{"id":"a"},"type_url":{}}', "type_url"],
  ])("says what is wrong with %j", (body, problem) => {
    expect(readPoll(body, limits)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it("reads a name once, however often it is asked for", () => {
    const names = Array.from({ length: 200_000 }, (_, at) => (at % 3 === 0 ? "81" : "80"));
    expect(read({ node, resource_names: names })).toMatchObject({ request: { names: ["81", "80"] } });
  });

  it.each([
    ["an id", { node: { ...node, id: "x".repeat(limits.idBytes + 1) } }, "node.id"],
    ["an id in other letters", { node: { ...node, id: "é".repeat(limits.idBytes / 2 + 1) } }, "node.id"],
    ["a cluster", { node: { ...node, cluster: "x".repeat(limits.idBytes + 1) } }, "node.cluster"],
    ["labels", { node: { ...node, metadata: { LABELS: { a: "x".repeat(limits.nodeBytes) } } } }, "node has more"],
    ["a version", { node, version_info: "x".repeat(limits.nameBytes + 1) }, "version_info"],
    ["a type", { node, type_url: "x".repeat(limits.nameBytes + 1) }, "type_url"],
    ["a name", { node, resource_names: ["x".repeat(limits.nameBytes + 1)] }, "resource_names"],
    [
      "a list of names",
      { node, resource_names: Array.from({ length: limits.names + 1 }, (_, at) => String(at)) },
      "resource_names",
    ],
  ])("refuses %s that is too long", (_what, request, problem) => {
    expect(read(request)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it("takes everything that is just short enough", () => {
    const request = {
      version_info: "v".repeat(limits.nameBytes),
      node: {
        id: "é".repeat(limits.idBytes / 2),
        cluster: "c".repeat(limits.idBytes),
        metadata: { a: "x".repeat(60_000) },
      },
      resource_names: Array.from({ length: limits.names }, (_, at) => String(at)),
    };
    expect(read(request)).toHaveProperty("request");
  });
});
