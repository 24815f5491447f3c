import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { DiscoveryRequestSchema } from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { DiscoveryQuestionSchema } from "../../../gen/portolan/v1/discovery_question_pb.ts";
import { shortLists } from "../../../lib/base/proxy-build.ts";
import { claimsOf } from "../../../lib/front/connect/node-claims.ts";
import { limits } from "../../../lib/limits/limits.ts";

/** What is read of a request of Envoy's that has these extensions. */
function claims(names: readonly string[]) {
  const extensions = names.map((name) => ({ name, category: "envoy.filters", typeUrls: ["envoy.Filter"] }));
  const request = create(DiscoveryRequestSchema, { node: { id: "a", cluster: "c", extensions } });
  return claimsOf(fromBinary(DiscoveryQuestionSchema, toBinary(DiscoveryRequestSchema, request)).node, limits);
}

const namesIn = (list: string): string[] => JSON.parse(list).map(({ name }: { readonly name: string }) => name);

describe("the claims of a node that came as a message", () => {
  it.each([
    [namesIn(shortLists.istio), { build: "istio" }],
    [["envoy.filters.http.router"], { build: "envoy" }],
    [[], {}],
  ])("say whose build it is by its extensions: %s", (names, said) => {
    expect(claims(names)).toEqual({ claims: { id: "a", cluster: "c", metadata: {}, locality: "", ...said } });
  });
});
