import { describe, expect, it } from "vitest";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { checkResource } from "../../../lib/xds/descriptors.ts";
import { extensionName } from "../../../lib/xds/names.ts";
import { wasmResources } from "../../../lib/xds/wasm/extension-resources.ts";
import { withFallbackFilter } from "../../../lib/xds/wasm/fallback-filter.ts";
import { listenerView } from "../listeners/small-world.ts";

const sha256 = "a1".repeat(32);

const object = (kind: string, name: string, spec: string) => `
---
apiVersion: extensions.istio.io/v1alpha1
kind: ${kind}
metadata: {name: ${name}, namespace: default}
spec: {${spec}}
`;

const codeHost = (port: number) => `
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: code, namespace: default}
spec:
  hosts: [code.example.com]
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  resolution: DNS
`;

/** @param module that was fetched for all */
function made(input: string, module?: string) {
  const memo = createMemo();
  const view = listenerView({ input }, memo);
  const policies = {
    ...view.policies,
    wasmPlugins: view.policies.wasmPlugins.map((one) =>
      module === undefined ? one : { ...one, spec: { ...one.spec, resolvedSha256: module } },
    ),
  };
  const { value, diagnostics } = wasmResources({ ...view, policies }, memo);
  for (const resource of value) {
    expect(checkResource("extension_configs", resource)).toBeUndefined();
    expect(checkResource("extension_configs", withFallbackFilter(resource))).toBeUndefined();
  }
  return { value, diagnostics };
}

/** The one resource of an object, and what an Envoy that polls gets of it. */
function only(kind: string, spec: string, beside = "", module?: string) {
  const { value, diagnostics } = made(object(kind, "a", spec) + beside, module);
  const [resource, ...more] = value;
  if (resource === undefined || more.length > 0) throw new Error(`${value.length} resources`);
  return {
    resource,
    polled: withFallbackFilter(resource).json,
    said: diagnostics.map(({ code, path }) => [code, path]),
  };
}

const wasm = (layer: "http" | "network") => `type.googleapis.com/envoy.extensions.filters.${layer}.wasm.v3.Wasm`;
const rbac = (layer: "http" | "network") => `type.googleapis.com/envoy.extensions.filters.${layer}.rbac.v3.RBAC`;

const version = { ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION: expect.stringMatching(/^\w{24}$/) };

describe("what a Wasm filter asks for", () => {
  it("is an image as Istio's agent is told of it, with all settings of the plugin", () => {
    const { resource, said } = only(
      "WasmPlugin",
      `url: "registry.example.com/a:1", imagePullPolicy: Always, imagePullSecret: mine, pluginName: root, failStrategy: FAIL_RELOAD,
       pluginConfig: {b: [1, {d: x, c: true}], a: null}, vmConfig: {env: [{name: HOME, valueFrom: HOST}, {name: LEVEL, value: high}]}`,
    );
    const name = extensionName("default", "a~istio-translated-wasmplugin");
    expect(resource).toEqual({
      name,
      from: [expect.objectContaining({ kind: "WasmPlugin", name: "a", namespace: "default" })],
      json: {
        name,
        typedConfig: {
          "@type": wasm("http"),
          config: {
            name: "default.a~istio-translated-wasmplugin",
            rootId: "root",
            vmConfig: {
              runtime: "envoy.wasm.runtime.v8",
              code: {
                remote: {
                  httpUri: { uri: "oci://registry.example.com/a:1", cluster: "_", timeout: "30s" },
                  sha256: "nil",
                },
              },
              environmentVariables: {
                hostEnvKeys: ["HOME"],
                keyValues: {
                  ISTIO_META_WASM_IMAGE_PULL_SECRET: "",
                  ISTIO_META_WASM_IMAGE_PULL_POLICY: "Always",
                  ...version,
                  LEVEL: "high",
                },
              },
            },
            configuration: {
              "@type": "type.googleapis.com/google.protobuf.StringValue",
              value: '{"a":null,"b":[1,{"c":true,"d":"x"}]}',
            },
            failurePolicy: "FAIL_RELOAD",
          },
        },
      },
    });
    expect(said).toEqual([["wasm-not-fetched", ["spec", "url"]]]);
  });

  it("is code that Envoy fetches from a service of the mesh, where a checksum says which", () => {
    const spec = `url: "http://code.example.com:8080/a.wasm", sha256: ${sha256}`;
    const { resource, polled, said } = only("WasmPlugin", spec, codeHost(8080));
    expect(resource.json.typedConfig).toMatchObject({
      config: {
        vmConfig: {
          vmId: sha256.slice(0, 16),
          runtime: "envoy.wasm.runtime.v8",
          code: {
            remote: {
              httpUri: {
                uri: "http://code.example.com:8080/a.wasm",
                cluster: "outbound|8080||code.example.com",
                timeout: "30s",
              },
              sha256,
            },
          },
        },
        failurePolicy: "FAIL_CLOSED",
      },
    });
    expect(JSON.stringify(resource)).not.toContain("ISTIO_META");
    expect(polled).toBe(resource.json);
    expect(said).toEqual([]);
  });

  it.each([
    ["the host is no service", `url: "http://code.example.com/a.wasm", sha256: ${sha256}`, codeHost(8080)],
    ["no checksum is there", 'url: "http://code.example.com:8080/a.wasm"', codeHost(8080)],
    ["it is an image", `url: "oci://code.example.com:8080/a", sha256: ${sha256}`, codeHost(8080)],
  ])("is a filter that refuses everything at an Envoy that polls, where %s", (_why, spec, beside) => {
    const { polled, said } = only("WasmPlugin", spec, beside);
    expect(polled).toMatchObject({
      typedConfig: { "@type": rbac("http"), rules: {}, rulesStatPrefix: "wasm-default-deny" },
    });
    expect(said).toEqual([["wasm-not-fetched", ["spec", "url"]]]);
  });

  it("is code of the front at an Envoy that polls, once it was fetched, and as ever on a stream", () => {
    const spec = `url: "oci://x/a:1", imagePullSecret: s, imagePullPolicy: Always, failStrategy: FAIL_OPEN, vmConfig: {env: [{name: LEVEL, value: high}]}`;
    const { resource, polled, said } = only("WasmPlugin", spec, "", sha256);
    expect(said).toEqual([]);
    expect(resource.json).toEqual(only("WasmPlugin", spec).resource.json);
    const name = `${extensionName("default", "a~istio-translated-wasmplugin")}@${sha256.slice(0, 16)}`;
    expect(polled).toEqual({
      name,
      typedConfig: {
        "@type": wasm("http"),
        config: {
          name: "default.a~istio-translated-wasmplugin",
          vmConfig: {
            vmId: sha256.slice(0, 16),
            runtime: "envoy.wasm.runtime.v8",
            code: {
              remote: {
                httpUri: { uri: `http://portolan/v3/wasm/${sha256}`, cluster: "portolan", timeout: "60s" },
                sha256,
                retryPolicy: { numRetries: 5, retryBackOff: { baseInterval: "1s", maxInterval: "10s" } },
              },
            },
            environmentVariables: { keyValues: { LEVEL: "high" } },
          },
          failurePolicy: "FAIL_OPEN",
        },
      },
    });
  });

  it("stays what Envoy fetches from a service of the mesh, whatever was fetched", () => {
    const spec = `url: "http://code.example.com:8080/a.wasm", sha256: ${sha256}`;
    const { resource, polled } = only("WasmPlugin", spec, codeHost(8080), sha256);
    expect(polled).toBe(resource.json);
  });

  it("is one that lets everything pass, where the plugin fails open", () => {
    const { polled } = only("TrafficExtension", 'wasm: {url: "oci://x/a", failStrategy: FAIL_OPEN, type: NETWORK}');
    expect(polled).toMatchObject({ typedConfig: { "@type": rbac("network"), statPrefix: "wasm-default-allow" } });
    expect(JSON.stringify(polled)).not.toContain("rules");
  });

  it("is code in a file, and of a TrafficExtension what is for its layer", () => {
    const { resource, polled, said } = only("TrafficExtension", 'wasm: {url: "file:///etc/a.wasm", type: NETWORK}');
    expect(resource.name).toBe(extensionName("default", "a"));
    expect(resource.json.typedConfig).toMatchObject({
      "@type": wasm("network"),
      config: { name: "default.a", vmConfig: { code: { local: { filename: "/etc/a.wasm" } } } },
    });
    expect(polled).toBe(resource.json);
    expect(said).toEqual([]);
  });

  it("is not there for Lua, which stands in the chain, nor for workloads that it does not select", () => {
    const lua = object("TrafficExtension", "lua", 'lua: {inlineCode: "function envoy_on_request(h) end"}');
    const other = object("WasmPlugin", "other", 'url: "file:///a", selector: {matchLabels: {app: other}}');
    expect(made(lua + other).value).toEqual([]);
  });
});
