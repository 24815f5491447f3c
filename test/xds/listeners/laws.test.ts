import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { generateListeners } from "../../../lib/xds/listeners/generate-listeners.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { entry, listenerView } from "./small-world.ts";

const rest = `
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}, {name: sniffed, port: 81}, {name: tcp-x, port: 82}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: v, namespace: default}
spec:
  hosts: [web.default.svc.cluster.local]
  tcp: [{match: [{port: 82}], route: [{destination: {host: web.default.svc.cluster.local, port: {number: 80}}}]}]
`;
const input = entry("a", 443, "TLS") + entry("b", 443, "TLS") + entry("c", 9000, "HTTP") + rest;

describe("listeners", () => {
  it("are the same with and without a memory", () => {
    const memo = createMemo();
    const view = listenerView({ input }, memo);
    expect(generateListeners(view, memo)).toEqual(generateListeners(view, noMemo));
  });

  it("have unique names in the order of their texts", () => {
    const names = wholeList(generateListeners(listenerView({ input }, noMemo), noMemo).value).map(
      (listener) => listener.name,
    );
    expect(names).toEqual([...new Set(names)].sort());
  });

  it("keep their identity when the view is made anew and says the same", () => {
    const memo = createMemo();
    const before = wholeList(generateListeners(listenerView({ input }, memo), memo).value);
    const view = listenerView({ input }, memo);
    const again = generateListeners(view, memo).value;
    const also = generateListeners({ ...view }, memo).value;
    expect(wholeList(also).map(({ json }) => json)).toEqual(before.map(({ json }) => json));
    expect(also.shared).toBe(again.shared);
    expect(also.own).toBe(again.own);
  });

  it("do not depend on the order in which objects are read", () => {
    const turned = input.split("---").toReversed().join("\n---\n");
    const jsonOf = (text: string) =>
      wholeList(generateListeners(listenerView({ input: text }, noMemo), noMemo).value).map(({ json }) => json);
    expect(jsonOf(turned)).toEqual(jsonOf(input));
  });
});
