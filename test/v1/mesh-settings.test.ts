import { describe, expect, it } from "vitest";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { noMemo } from "../../lib/incremental/memo.ts";
import type { LegacyRelease } from "../../lib/mesh/world.ts";
import { legacyWorldOf } from "../../lib/v1/legacy-world-of.ts";
import { answer } from "./oracle/answer.ts";

const shop = (annotations = "{}") => `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, annotations: ${annotations}}
spec:
  clusterIP: 10.0.0.1
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: http-admin, port: 81, targetPort: 8081}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: http-admin, port: 8081}]
endpoints: [{addresses: [10.1.0.1], conditions: {ready: true}}]
---
apiVersion: networking.istio.io/v1alpha3
kind: VirtualService
metadata: {name: slow, namespace: shop}
spec:
  hosts: [web.shop.svc.cluster.local]
  http: [{timeout: 3s, route: [{destination: {host: web.shop.svc.cluster.local}}]}]
`;

const node = "c/sidecar~10.1.0.1~web-1.shop~shop.svc.cluster.local";

/** What a node is told in a mesh with these settings, parsed. */
function ask(path: string, mesh = "", annotations = "{}", legacyApi: LegacyRelease = "0.8") {
  const files = [
    { file: "shop.yaml", text: shop(annotations) },
    { file: "mesh.yaml", text: mesh },
  ];
  const world = worldOf(readFiles(files), { ...defaultWorldOptions, legacyApi }, noMemo).value;
  return JSON.parse(answer(legacyWorldOf(world), { method: "GET", path: `/v1/${path}` }).body);
}

interface Named {
  readonly name: string;
}

const clusters = (mesh = "", annotations = "{}"): readonly (Named & { readonly ssl_context?: object })[] =>
  ask(`clusters/${node}`, mesh, annotations).clusters;
const listeners = (mesh = ""): readonly Named[] => ask(`listeners/${node}`, mesh).listeners;

describe("settings in mesh.yaml", () => {
  it("fall back to the defaults of release 0.8, not to today's", () => {
    expect(JSON.stringify(listeners())).toContain('"access_log":[{"path":"/dev/stdout"}]');
    expect(clusters()[0]).toMatchObject({ connect_timeout_ms: 1000 });
    expect(clusters("connectTimeout: 10s")[0]).toMatchObject({ connect_timeout_ms: 10_000 });
  });

  it.each([
    ["no Mixer", "", []],
    ["a server for checks", "mixerCheckServer: policy:9091", ["mixer_check_server"]],
    ["a server for reports, in snake case", "mixer_report_server: telemetry:9091", ["mixer_report_server"]],
    ["one address for both", "mixerAddress: mixer:9091", ["mixer_check_server", "mixer_report_server"]],
  ])("name Mixer's clusters: %s", (_, mesh, names) => {
    const found = clusters(mesh).map(({ name }) => name);
    expect(found.filter((name) => name.startsWith("mixer"))).toEqual(names);
  });

  const mixer = "mixerCheckServer: mixer:9091";

  it("ask Mixer for checks unless they are disabled", () => {
    const on = JSON.stringify(listeners(mixer));
    expect(on).toContain('"name":"mixer"');
    expect(JSON.stringify(listeners(`${mixer}\ndisablePolicyChecks: true`))).not.toBe(on);
  });

  it("know Mixer's identity where the control plane has mutual TLS", () => {
    const mesh = `${mixer}\ndefaultConfig: {controlPlaneAuthPolicy: MUTUAL_TLS}`;
    expect(clusters(mesh).find(({ name }) => name === "mixer_check_server")?.ssl_context).toMatchObject({
      verify_subject_alt_name: ["spiffe://cluster.local/ns/istio-system/sa/istio-mixer-service-account"],
    });
  });

  it("say how often routes are asked for", () => {
    expect(JSON.stringify(listeners("rdsRefreshDelay: 30s"))).toContain('"refresh_delay_ms":30000');
  });
});

describe("mutual TLS of a port", () => {
  const mutual = "authPolicy: MUTUAL_TLS";
  it.each([
    ["none by default", "", "{}", []],
    ["the mesh's", mutual, "{}", [80, 81]],
    ["the annotation's, where the mesh has none", "", '{auth.istio.io/81: "MUTUAL_TLS"}', [81]],
    ["the annotation's, before the mesh's", mutual, '{auth.istio.io/80: "NONE"}', [81]],
    ["the mesh's, where the annotation says neither", mutual, '{auth.istio.io/80: "none"}', [80, 81]],
    [
      "none, of a host that the mesh leaves out",
      `${mutual}\nmtlsExcludedServices: [web.shop.svc.cluster.local]`,
      "{}",
      [],
    ],
  ])("is %s", (_, mesh, annotations, ports) => {
    const outbound = `sidecar~10.1.0.9~x.shop~shop.svc.cluster.local`;
    const all = [80, 81].filter((port) => {
      const table = ask(`routes/${port}/c/${outbound}`, mesh, annotations);
      const cluster: string = table.virtual_hosts[0].routes[0].cluster;
      return clusters(mesh, annotations).some(({ name, ssl_context }) => name === cluster && ssl_context !== undefined);
    });
    expect(all).toEqual(ports);
  });
});

describe("the release", () => {
  it.each([
    ["0.7", 3000],
    ["0.8", 0],
  ] as const)("%s decides whether a VirtualService counts", (release, timeout) => {
    const table = ask(`routes/80/${node}`, "", "{}", release);
    expect(table.virtual_hosts[0].routes[0].timeout_ms).toBe(timeout);
  });
});
