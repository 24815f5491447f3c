import type { Dice } from "./dice.ts";
import { labels, type Manifest, manifest, namespaces, policyTarget, providerNames } from "./vocabulary.ts";

const mode = (dice: Dice): string => dice.pick(["CLIENT", "SERVER", "CLIENT_AND_SERVER"]);

export function randomTelemetry(dice: Dice, name: string): Manifest {
  return manifest(dice, ["telemetry.istio.io/v1", "Telemetry"], [dice.pick(namespaces), name], {
    spec: {
      ...policyTarget(dice),
      ...dice.maybe(50, () => ({ tracing: dice.list(1, 2, () => tracing(dice)) })),
      ...dice.maybe(60, () => ({ accessLogging: dice.list(1, 3, () => accessLogging(dice)) })),
      ...dice.maybe(40, () => ({ metrics: [metrics(dice)] })),
    },
  });
}

const tracing = (dice: Dice): object => ({
  ...dice.maybe(30, () => ({ match: { mode: mode(dice) } })),
  ...dice.maybe(70, () => ({ providers: [{ name: dice.pick(providerNames.tracing) }] })),
  ...dice.maybe(50, () => ({ randomSamplingPercentage: dice.pick([0, 0.5, 33.3, 100]) })),
  ...dice.maybe(15, () => ({ disableSpanReporting: dice.chance(50) })),
  ...dice.maybe(40, () => ({
    customTags: {
      one: { literal: { value: "v" } },
      two: { environment: { name: "HOME", defaultValue: "none" } },
      three: { header: { name: "x-tag", ...dice.maybe(50, () => ({ defaultValue: "none" })) } },
      ...dice.maybe(40, () => ({ four: { formatter: { value: "%REQ(x-one)%" } } })),
    },
  })),
  ...dice.maybe(20, () => ({ useRequestIdForTraceSampling: dice.chance(50) })),
  ...dice.maybe(20, () => ({ enableIstioTags: dice.chance(50) })),
  ...dice.maybe(15, () => ({ disableContextPropagation: dice.chance(50) })),
});

const accessLogging = (dice: Dice): object => ({
  ...dice.maybe(40, () => ({ match: { mode: mode(dice) } })),
  ...dice.maybe(80, () => ({ providers: dice.some(providerNames.accessLogs, 1, 2).map((name) => ({ name })) })),
  ...dice.maybe(20, () => ({ disabled: dice.chance(50) })),
  ...dice.maybe(30, () => ({
    filter: {
      expression: dice.pick([
        "response.code >= 400",
        "has(request.useragent) || 'x-one' in request.headers",
        "connection.mtls && request.url_path.contains('v1')",
        "true",
        "upstream.cluster == 'x' ? size(request.headers) > 2 : response.flags in [1, 2]",
      ]),
    },
  })),
});

const metrics = (dice: Dice): object => ({
  ...dice.maybe(80, () => ({ providers: [{ name: dice.pick(providerNames.metrics) }] })),
  ...dice.maybe(60, () => ({
    overrides: dice.list(1, 2, () => ({
      ...dice.maybe(70, () => ({
        match: { metric: dice.pick(["ALL_METRICS", "REQUEST_COUNT", "TCP_SENT_BYTES"]), mode: mode(dice) },
      })),
      ...dice.maybe(30, () => ({ disabled: true })),
      ...dice.maybe(50, () => ({
        tagOverrides: { method: { value: "request.method" }, reporter: { operation: "REMOVE" } },
      })),
    })),
  })),
  ...dice.maybe(15, () => ({ reportingInterval: "15s" })),
});

export function randomWasmPlugin(dice: Dice, name: string): Manifest {
  return manifest(dice, ["extensions.istio.io/v1alpha1", "WasmPlugin"], [dice.pick(namespaces), name], {
    spec: {
      ...policyTarget(dice),
      url: dice.pick(["file:///opt/filter.wasm", "https://example.com/filter.wasm", "http://example.com/filter.wasm"]),
      ...dice.maybe(60, () => ({ sha256: "a".repeat(64) })),
      ...dice.maybe(50, () => ({ phase: dice.pick(["AUTHN", "AUTHZ", "STATS", "UNSPECIFIED_PHASE"]) })),
      ...dice.maybe(30, () => ({ priority: dice.int(20) - 10 })),
      ...dice.maybe(40, () => ({ pluginConfig: { text: "x", list: [1, true, null], nested: { a: 0.5 } } })),
      ...dice.maybe(30, () => ({ pluginName: "root" })),
      ...dice.maybe(40, () => ({ failStrategy: dice.pick(["FAIL_CLOSE", "FAIL_OPEN", "FAIL_RELOAD"]) })),
      ...dice.maybe(30, () => ({ type: dice.pick(["HTTP", "NETWORK"]) })),
      ...dice.maybe(30, () => ({
        vmConfig: {
          env: [
            { name: "A", value: "1" },
            { name: "B", valueFrom: "HOST" },
          ],
        },
      })),
      ...dice.maybe(25, () => ({ match: trafficSelectors(dice) })),
    },
  });
}

const trafficSelectors = (dice: Dice): readonly object[] =>
  dice.list(1, 2, () => ({
    ...dice.maybe(70, () => ({ mode: mode(dice) })),
    ...dice.maybe(60, () => ({ ports: dice.some([80, 443, 8080, 9000, 15443], 1, 2).map((number) => ({ number })) })),
  }));

export function randomTrafficExtension(dice: Dice, name: string): Manifest {
  const code = dice.chance(50)
    ? { lua: { inlineCode: "function envoy_on_request(handle) handle:headers():add('x-lua', '1') end" } }
    : {
        wasm: {
          url: "file:///opt/filter.wasm",
          ...dice.maybe(40, () => ({ failStrategy: dice.pick(["FAIL_CLOSE", "FAIL_OPEN"]) })),
          ...dice.maybe(40, () => ({ type: dice.pick(["HTTP", "NETWORK"]) })),
        },
      };
  return manifest(dice, ["extensions.istio.io/v1alpha1", "TrafficExtension"], [dice.pick(namespaces), name], {
    spec: {
      ...policyTarget(dice),
      ...dice.maybe(50, () => ({ phase: dice.pick(["AUTHN", "AUTHZ", "STATS", "UNSPECIFIED"]) })),
      ...dice.maybe(30, () => ({ priority: dice.int(20) - 10 })),
      ...dice.maybe(40, () => ({ match: trafficSelectors(dice) })),
      ...code,
    },
  });
}

export function randomProxyConfig(dice: Dice, name: string): Manifest {
  return manifest(dice, ["networking.istio.io/v1beta1", "ProxyConfig"], [dice.pick(namespaces), name], {
    spec: {
      ...dice.maybe(50, () => ({ selector: { matchLabels: labels(dice) } })),
      ...dice.maybe(60, () => ({ concurrency: dice.int(4) })),
      ...dice.maybe(40, () => ({ environmentVariables: { ISTIO_META_X: "1" } })),
      ...dice.maybe(30, () => ({ image: { imageType: "distroless" } })),
    },
  });
}
