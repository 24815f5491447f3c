import { describe, expect, it } from "vitest";
import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { type Release, releases } from "../../lib/config/compat/compat-settings.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";

const input = (address: string): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: outside, namespace: default}
spec:
  hosts: ["*.example.com"]
  location: MESH_EXTERNAL
  resolution: DYNAMIC_DNS
  ports: [{number: 80, name: http, protocol: HTTP}, {number: 443, name: tls, protocol: TLS}]
---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: default, labels: {app: client, security.istio.io/tlsMode: istio}}
spec: {containers: [{name: app, image: app}]}
status: {phase: Running, podIP: "${address}", podIPs: [{ip: "${address}"}], conditions: [{type: Ready, status: "True"}]}
`;

/** The families in which the pod resolves the hosts of the ServiceEntry: in its clusters, and in its listeners. */
function familiesOf(address: string, release: Release) {
  const loaded = readFiles([{ file: "a.yaml", text: input(address) }]);
  const world = worldOf(loaded, { ...defaultWorldOptions, release }, createMemo()).value;
  const { classes } = compile(world, [], createMemo()).value;
  const families = (type: "clusters" | "listeners") =>
    classes
      .flatMap(({ stream }) => resourcesIn(stream[type]))
      .flatMap(({ text }) => text.match(/(?<="dnsLookupFamily":")\w+(?=")/g) ?? []);
  return { clusters: [...new Set(families("clusters"))], listeners: [...new Set(families("listeners"))] };
}

const [oldest] = releases;

describe("hosts that are resolved as they are asked for", () => {
  it.each(releases.filter((release) => release !== oldest))(
    "are in the family of the proxy's addresses in %s",
    (release) => {
      expect(familiesOf("2001:db8::7", release)).toEqual({ clusters: ["V6_ONLY"], listeners: ["V6_ONLY"] });
      expect(familiesOf("10.1.0.7", release)).toEqual({ clusters: ["V4_ONLY"], listeners: ["V4_ONLY"] });
    },
  );

  it("are in IPv4 in the oldest release, whatever the proxy has", () => {
    expect(familiesOf("2001:db8::7", oldest)).toEqual({ clusters: ["V4_ONLY"], listeners: ["V4_ONLY"] });
  });
});
