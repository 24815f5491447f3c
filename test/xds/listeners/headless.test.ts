import { describe, expect, it } from "vitest";
import { listenersOf } from "./small-world.ts";

const headless = `
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: default}
spec:
  clusterIP: None
  selector: {app: db}
  ports: [{name: tcp-one, port: 9000}, {name: tcp-two, port: 9001}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: default, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
ports: [{name: tcp-one, port: 9000}, {name: tcp-two, port: 9001}]
endpoints: [{addresses: [10.1.0.1]}, {addresses: [10.1.0.2]}]
`;

const sidecar = (egress: string): string => `
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: default}
spec: {egress: ${egress}}
`;

const all = ["10.1.0.1_9000", "10.1.0.1_9001", "10.1.0.2_9000", "10.1.0.2_9001"];
const endpointListeners = (input: string) => listenersOf({ input }).names.filter((name) => name.startsWith("10."));

describe("a headless service", () => {
  it("has a listener for each port of each endpoint", () => {
    expect(endpointListeners(headless).sort()).toEqual(all);
  });

  it("has them all, though another egress listener takes one of its ports", () => {
    const egress = '[{port: {number: 9000, protocol: HTTP, name: p}, hosts: ["./*"]}, {hosts: ["./*"]}]';
    expect(endpointListeners(headless + sidecar(egress)).sort()).toEqual(all);
  });
});
