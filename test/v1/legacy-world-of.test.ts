import { describe, expect, it } from "vitest";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { noMemo } from "../../lib/incremental/memo.ts";
import { legacyWorldOf } from "../../lib/v1/legacy-world-of.ts";
import { answer } from "./oracle/answer.ts";

const text = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  clusterIP: 10.0.0.1
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
  - {name: raw, port: 90}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, version: v1}}
spec: {serviceAccountName: web, nodeName: n1}
status: {phase: Running, podIP: 10.1.0.1, podIPs: [{ip: 10.1.0.1}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: raw, port: 90}]
endpoints:
- addresses: [10.1.0.1]
  conditions: {ready: true}
  targetRef: {kind: Pod, name: web-1, namespace: shop}
- addresses: [10.1.0.2]
  conditions: {ready: false}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: outside, namespace: shop}
spec:
  hosts: [api.example.com]
  ports: [{name: http, number: 80, protocol: HTTP}]
  resolution: DNS
---
apiVersion: config.istio.io/v1alpha2
kind: RouteRule
metadata: {name: slow, namespace: shop}
spec:
  destination: {name: web}
  httpReqTimeout: {simpleTimeout: {timeout: 3s}}
`;

const world = legacyWorldOf(worldOf(readFiles([{ file: "shop.yaml", text }]), defaultWorldOptions, noMemo).value);
const get = (path: string) => JSON.parse(answer(world, { method: "GET", path }).body);

describe("legacyWorldOf", () => {
  it("knows the services of registries and not those of ServiceEntries", () => {
    expect(get("/v1/registration").map((each: { "service-key": string }) => each["service-key"])).toEqual([
      "web.shop.svc.cluster.local|http",
      "web.shop.svc.cluster.local|raw",
    ]);
  });

  it("tells of ready endpoints by port and label", () => {
    const hosts = [{ ip_address: "10.1.0.1", port: 8080 }];
    expect(get("/v1/registration/web.shop.svc.cluster.local|http|version=v1")).toEqual({ hosts });
    expect(get("/v1/registration/web.shop.svc.cluster.local|http|version=v2")).toEqual({ hosts: [] });
  });

  it("routes by the objects of that age", () => {
    const { virtual_hosts: hosts } = get("/v1/routes/80/c/sidecar~10.1.0.1~web-1.shop~shop.svc.cluster.local");
    expect(hosts[0].domains).toContain("web:80");
    expect(hosts[0].routes).toMatchObject([{ timeout_ms: 3000, decorator: { operation: "slow" } }]);
  });

  it("serves a port without a protocol as plain bytes", () => {
    const { listeners } = get("/v1/listeners/c/sidecar~10.1.0.9~x.shop~shop.svc.cluster.local");
    expect(listeners.map((each: { name: string }) => each.name)).toContain("tcp_10.0.0.1_90");
  });
});
