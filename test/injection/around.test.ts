import { describe, expect, it } from "vitest";
import type { Fields } from "../../lib/base/untyped.ts";
import { podPatch } from "../../lib/injection/json-patch.ts";
import { merged } from "../../lib/injection/merge.ts";
import { whyNotInjected } from "../../lib/injection/selection.ts";
import { uninjectPod } from "../../lib/injection/uninject.ts";
import { readInjectionValues } from "../../lib/injection/values.ts";
import { workloadIn } from "../../lib/injection/workloads.ts";
import { type Given, injectedPod, looked, written } from "./injected.ts";

const container = (more: object): object => ({
  containers: [{ name: "web", image: "web:1", ports: [{ name: "http", containerPort: 8080 }], ...more }],
});

describe("probes of the workload", () => {
  const probers = (given: Given) => {
    const { variable, container: of } = looked(injectedPod(given));
    const text = variable("ISTIO_KUBE_APP_PROBERS");
    return { asked: text === undefined ? undefined : JSON.parse(String(text)), web: of("web") };
  };

  it("ask the agent, which asks the workload as they did", () => {
    const { asked, web } = probers({
      spec: container({
        readinessProbe: {
          httpGet: { path: "/ready", port: "http", scheme: "HTTPS" },
          timeoutSeconds: 5,
          periodSeconds: 3,
        },
        livenessProbe: { tcpSocket: { port: 9090 } },
        startupProbe: { grpc: { port: 9000, service: "web" } },
        lifecycle: { preStop: { httpGet: { path: "/stop", port: 8080 } } },
      }),
    });
    expect(asked).toEqual({
      "/app-health/web/readyz": { httpGet: { path: "/ready", port: 8080, scheme: "HTTPS" }, timeoutSeconds: 5 },
      "/app-health/web/livez": { tcpSocket: { port: 9090 } },
      "/app-health/web/startupz": { grpc: { port: 9000, service: "web" } },
      "/app-lifecycle/web/prestopz": { httpGet: { path: "/stop", port: 8080 } },
    });
    expect(web).toMatchObject({
      readinessProbe: {
        httpGet: { path: "/app-health/web/readyz", port: 15_020, scheme: "HTTP" },
        timeoutSeconds: 5,
        periodSeconds: 3,
      },
      livenessProbe: { httpGet: { path: "/app-health/web/livez", port: 15_020 } },
      startupProbe: { httpGet: { path: "/app-health/web/startupz", port: 15_020 } },
      lifecycle: { preStop: { httpGet: { path: "/app-lifecycle/web/prestopz", port: 15_020 } } },
    });
    expect(web.livenessProbe).not.toHaveProperty("tcpSocket");
  });

  it("ask the port that the pod names", () => {
    const { web } = probers({
      annotations: { "status.sidecar.istio.io/port": "16000" },
      spec: container({ readinessProbe: { httpGet: { path: "/", port: 8080 } } }),
    });
    expect(web.readinessProbe).toMatchObject({ httpGet: { port: 16_000 } });
  });

  it.each<[string, Given]>([
    ["an annotation", { annotations: { "sidecar.istio.io/rewriteAppHTTPProbers": "false" } }],
    ["values", { values: { sidecarInjectorWebhook: { rewriteAppHTTPProbe: false } } }],
  ])("stay as they are by %s", (_by, given) => {
    const readinessProbe = { httpGet: { path: "/", port: 8080 } };
    const { asked, web } = probers({ ...given, spec: container({ readinessProbe }) });
    expect({ asked, probe: web.readinessProbe }).toEqual({ asked: undefined, probe: readinessProbe });
  });

  it("that run a command stay as they are", () => {
    const livenessProbe = { exec: { command: ["true"] } };
    expect(probers({ spec: container({ livenessProbe }) })).toMatchObject({ asked: undefined, web: { livenessProbe } });
  });
});

describe("metrics of the workload", () => {
  const scrape = (given: Given) => {
    const { variable, annotations } = looked(injectedPod(given));
    const text = variable("ISTIO_PROMETHEUS_ANNOTATIONS");
    return { told: text === undefined ? undefined : JSON.parse(String(text)), port: annotations["prometheus.io/port"] };
  };
  const own = { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" };

  it("are read by the agent", () => {
    expect(scrape({ annotations: own })).toEqual({ told: { scrape: "true", path: "", port: "9090" }, port: "15020" });
    expect(scrape({ annotations: { "prometheus.istio.io/scrape-targets": "8080, 9100:/own" } }).told).toEqual({
      scrape: "",
      path: "/metrics",
      port: "8080",
      targets: [
        { port: "8080", path: "/metrics" },
        { port: "9100", path: "/own" },
      ],
    });
  });

  it.each<[string, Given]>([
    ["merge-metrics", { annotations: { ...own, "prometheus.istio.io/merge-metrics": "false" } }],
    ["the mesh", { annotations: own, mesh: "enablePrometheusMerge: false" }],
  ])("are left alone by %s", (_by, given) => {
    expect(scrape(given)).toEqual({ told: undefined, port: "9090" });
  });

  it("that nobody is to read stay unread", () => {
    expect(scrape({ annotations: { "prometheus.io/scrape": "false" } })).toEqual({ told: undefined, port: undefined });
  });
});

describe("which pods are injected", () => {
  const values = readInjectionValues(
    {
      sidecarInjectorWebhook: { neverInjectSelector: [{ matchExpressions: [{ key: "job", operator: "Exists" }] }, {}] },
    },
    "values",
  );
  const label = "sidecar.istio.io/inject";
  it.each<[string, Given, string, string | undefined]>([
    ["a plain pod", {}, "shop", undefined],
    [
      "a pod on the network of its host",
      { spec: { hostNetwork: true }, labels: { [label]: "true" } },
      "shop",
      "host networking",
    ],
    ["a pod of kube-system", { labels: { [label]: "true" } }, "kube-system", "kube-system"],
    ["a label that says no", { labels: { [label]: "false" } }, "shop", "disabled"],
    ["an annotation that says no", { annotations: { [label]: "false" } }, "shop", "disabled"],
    [
      "a label over an annotation",
      { labels: { [label]: "true" }, annotations: { [label]: "false" } },
      "shop",
      undefined,
    ],
    ["neverInjectSelector", { labels: { job: "x" } }, "shop", "neverInjectSelector"],
    ["a label over neverInjectSelector", { labels: { job: "x", [label]: "true" } }, "shop", undefined],
    ["a label that says neither", { labels: { [label]: "yes" } }, "shop", undefined],
  ])("%s", (_what, given, namespace, why) => {
    const said = whyNotInjected(written(given), namespace, values);
    if (why === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(why);
  });
});

describe("taking a proxy out again", () => {
  it.each<[string, Given]>([
    ["a plain pod", {}],
    [
      "a pod with labels and annotations of its own",
      { labels: { app: "a", "service.istio.io/canonical-name": "own" }, annotations: { note: "x" } },
    ],
    ["a native sidecar", { values: { pilot: { env: { ENABLE_NATIVE_SIDECARS: true } } } }],
    [
      "probes and metrics",
      {
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/path": "/m", "prometheus.io/port": "9090" },
        spec: container({
          readinessProbe: { httpGet: { path: "/", port: 8080 } },
          livenessProbe: { tcpSocket: { port: 9 } },
        }),
      },
    ],
    [
      "volumes and init containers",
      {
        spec: {
          ...container({}),
          initContainers: [{ name: "m", image: "m:1" }],
          volumes: [{ name: "v", emptyDir: {} }],
        },
      },
    ],
    [
      "a proxy that the pod says something of",
      {
        spec: {
          containers: [
            { name: "web", image: "w" },
            { name: "istio-proxy", image: "auto", env: [{ name: "A", value: "1" }] },
          ],
        },
      },
    ],
    [
      "a gateway",
      {
        labels: { istio: "gw" },
        annotations: { "inject.istio.io/templates": "gateway" },
        spec: { containers: [{ name: "istio-proxy", image: "auto" }] },
      },
    ],
    ["Portolan's agent", { annotations: { "inject.istio.io/templates": "portolan" } }],
    ["secrets of images, and a network", { values: { global: { imagePullSecrets: ["pull"], network: "n1" } } }],
  ])("gives the pod that there was: %s", (_what, given) => {
    const before = written(given);
    const text = (pod: object) => JSON.parse(JSON.stringify(pod));
    const bare = uninjectPod(injectedPod(given), "web");
    const empty = (texts: unknown) => (Object.keys(Object(texts)).length === 0 ? undefined : texts);
    const { labels, annotations, ...metadata } = before.metadata;
    expect(text(bare)).toEqual(
      text({ metadata: { ...metadata, labels: empty(labels), annotations: empty(annotations) }, spec: before.spec }),
    );
  });

  it("leaves a pod alone that nothing was injected into", () => {
    const pod = written({});
    expect(uninjectPod(pod, "web")).toBe(pod);
  });

  it("injecting once more gives the same", () => {
    const given: Given = {
      spec: container({ readinessProbe: { httpGet: { path: "/", port: "http" } } }),
      annotations: { "prometheus.io/port": "9090" },
    };
    const once = injectedPod(given);
    const { metadata, spec } = injectedPod(given, once);
    expect(metadata).toEqual(once.metadata);
    expect(spec).toEqual(once.spec);
  });
});

describe("the parts", () => {
  it("a strategic merge merges lists by their keys, new elements first", () => {
    const under = {
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
      args: ["x"],
      gone: 1,
      deep: { a: 1 },
    };
    const over = {
      env: [
        { name: "C", value: "3" },
        { name: "B", value: "4" },
      ],
      args: ["y"],
      gone: null,
      deep: { b: 2 },
    };
    expect(merged(under, over)).toEqual({
      env: [
        { name: "C", value: "3" },
        { name: "A", value: "1" },
        { name: "B", value: "4" },
      ],
      args: ["y"],
      deep: { a: 1, b: 2 },
    });
  });

  it("a patch has what differs, with escaped names", () => {
    const before = { metadata: { name: "a", labels: { x: "1" } }, spec: { hostPID: true } };
    const after = { metadata: { name: "a", annotations: { y: "2" } }, spec: { hostPID: true, "a/b~c": 1 } };
    expect(podPatch(before, after)).toEqual([
      { op: "remove", path: "/metadata/labels" },
      { op: "add", path: "/metadata/annotations", value: { y: "2" } },
      { op: "add", path: "/spec/a~1b~0c", value: 1 },
    ]);
  });

  it.each([
    ["CronJob", { jobTemplate: { spec: { template: { spec: { containers: [] } } } } }],
    ["StatefulSet", { template: { spec: { containers: [] } } }],
  ])("the pods of a %s are found, and put back", (kind, spec) => {
    const object: Fields = { apiVersion: "apps/v1", kind, metadata: { name: "web", namespace: "shop" }, spec };
    const found = workloadIn(object, "default");
    expect(found?.owner).toEqual({ apiVersion: "apps/v1", kind, name: "web" });
    expect(found?.namespace).toBe("shop");
    expect(found?.withPod(found.pod)).toEqual(object);
  });

  it("values that cannot be are named", () => {
    expect(() => readInjectionValues({ global: { proxy: { statusPort: "x" } } }, "values.yaml")).toThrow(
      /^values\.yaml cannot be used: global\.proxy\.statusPort: /,
    );
  });
});
