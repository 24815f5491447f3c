import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { envelope } from "../a-config.ts";

const inListener = "applyTo: HTTP_FILTER, patch: {operation: MERGE, value: {name: x}}";
const tcp = "route: [{destination: {host: b}}]";
const plain = "port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']";

describe("a field without effect", () => {
  it.each([
    ["EnvoyFilter", `{configPatches: [{${inListener.replace("}}", "}, filterClass: AUTHN}")}}]}`],
    ["EnvoyFilter", `{configPatches: [{${inListener}, match: {listener: {portName: x}}}]}`],
    ["EnvoyFilter", `{configPatches: [{${inListener}, match: {context: WAYPOINT, waypoint: {portNumber: 80}}}]}`],
    ["Gateway", `{servers: [{${plain}, defaultEndpoint: "127.0.0.1:80"}]}`],
    ["Telemetry", "{metrics: [{providers: [{name: prometheus}]}]}"],
    ["TrafficExtension", "{wasm: {url: 'oci://example.com/a', imagePullSecret: a}}"],
    ["VirtualService", `{hosts: [a], tcp: [{match: [{sourceSubnet: 10.0.0.0/8}], ${tcp}}]}`],
    ["WasmPlugin", "{url: 'oci://example.com/a', verificationKey: a}"],
  ])("of a %s is read, and said to have none: %s", (kind, spec) => {
    const { configs, diagnostics } = readFiles([{ file: "a.yaml", text: `${envelope(kind, "a")}spec: ${spec}` }]);
    expect(configs).toHaveLength(1);
    expect(diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual(["info no-effect"]);
    const at = diagnostics[0]?.path.slice(1) ?? [];
    const found = at.reduce<unknown>((value, step) => Object(value)[step], configs[0]?.spec);
    expect(found).toBeDefined();
  });

  it("is not mentioned where it is not written", () => {
    const text = `${envelope("Gateway", "a")}spec: {servers: [{${plain}}]}`;
    expect(readFiles([{ file: "a.yaml", text }]).diagnostics).toEqual([]);
  });
});
