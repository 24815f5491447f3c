import { describe, expect, it } from "vitest";
import { fieldsOf, listOf } from "../../lib/base/untyped.ts";
import { type Given, injectedPod, looked, written } from "./injected.ts";

const injected = (given: Given) => looked(injectedPod(given));

/** The argument behind a flag of istio-iptables. */
const flagOf = (args: readonly unknown[], flag: string): unknown => {
  const at = args.indexOf(flag);
  return at < 0 ? undefined : args[at + 1];
};

describe("a sidecar", () => {
  it("is a container behind the workload, and a container that captures traffic", () => {
    const { containers, inits, proxy, variable, container } = injected({});
    expect({ containers, inits }).toEqual({ containers: ["web", "istio-proxy"], inits: ["istio-init"] });
    expect(proxy).toMatchObject({
      image: "registry.istio.io/release/proxyv2:1.30.3",
      ports: [{ containerPort: 15_090, name: "http-envoy-prom" }],
      readinessProbe: { httpGet: { path: "/healthz/ready", port: 15_021 }, periodSeconds: 15, failureThreshold: 4 },
      startupProbe: { periodSeconds: 1, failureThreshold: 600 },
      securityContext: { runAsUser: 1337, runAsGroup: 1337, runAsNonRoot: true, readOnlyRootFilesystem: true },
    });
    expect(listOf(proxy.args).slice(0, 4)).toEqual([
      "proxy",
      "sidecar",
      "--domain",
      "$(POD_NAMESPACE).svc.cluster.local",
    ]);
    expect(variable("ISTIO_META_OWNER")).toBe("kubernetes://apis/apps/v1/namespaces/shop/deployments/web");
    expect(variable("CA_ADDR")).toBe("istiod.istio-system.svc:15012");
    expect(container("istio-init").securityContext).toMatchObject({
      runAsUser: 0,
      capabilities: { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] },
    });
  });

  it("labels the pod, and notes what it has put into it", () => {
    const { labels, annotations } = injected({ labels: { app: "shop-web", version: "v2" } });
    expect(labels).toEqual({
      app: "shop-web",
      version: "v2",
      "security.istio.io/tlsMode": "istio",
      "service.istio.io/canonical-name": "shop-web",
      "service.istio.io/canonical-revision": "v2",
    });
    expect(annotations).toMatchObject({
      "istio.io/rev": "default",
      "kubectl.kubernetes.io/default-container": "web",
      "prometheus.io/port": "15020",
      "prometheus.io/path": "/stats/prometheus",
    });
    expect(JSON.parse(annotations["sidecar.istio.io/status"] ?? "")).toEqual({
      initContainers: ["istio-init"],
      containers: ["istio-proxy"],
      volumes: [
        "workload-socket",
        "credential-socket",
        "workload-certs",
        "istio-envoy",
        "istio-data",
        "istio-podinfo",
        "istio-token",
        "istiod-ca-cert",
        "istio-ca-crl",
      ],
      imagePullSecrets: null,
      revision: "default",
    });
  });

  it("names the control plane of its revision", () => {
    const { annotations, variable } = injected({ values: { revision: "canary" } });
    expect(annotations["istio.io/rev"]).toBe("canary");
    expect(variable("CA_ADDR")).toBe("istiod-canary.istio-system.svc:15012");
  });

  it.each<[string, Given]>([
    ["values", { values: { pilot: { env: { ENABLE_NATIVE_SIDECARS: "true" } } } }],
    ["an annotation", { annotations: { "sidecar.istio.io/nativeSidecar": "true" } }],
  ])(
    "is native by %s: behind istio-init, before other init containers, and drains while the pod ends",
    (_by, given) => {
      const spec = { initContainers: [{ name: "migrate", image: "m:1" }] };
      const { inits, containers, proxy } = injected({ ...given, spec });
      expect({ inits, containers }).toEqual({ inits: ["istio-init", "istio-proxy", "migrate"], containers: ["web"] });
      expect(proxy.restartPolicy).toBe("Always");
      expect(proxy.lifecycle).toEqual({
        preStop: { exec: { command: ["pilot-agent", "request", "--debug-port=15020", "POST", "drain"] } },
      });
    },
  );

  it("captures traffic behind all other init containers where it is not native", () => {
    const spec = { initContainers: [{ name: "migrate", image: "m:1" }] };
    expect(injected({ spec }).inits).toEqual(["migrate", "istio-init"]);
  });

  it.each<[string, Given]>([
    ["values", { values: { global: { proxy: { holdApplicationUntilProxyStarts: true } } } }],
    ["the mesh", { mesh: "defaultConfig: {holdApplicationUntilProxyStarts: true}" }],
    ["an annotation", { annotations: { "proxy.istio.io/config": "holdApplicationUntilProxyStarts: true" } }],
  ])("holds the workload until it is ready, by %s", (_by, given) => {
    const { containers, proxy } = injected(given);
    expect(containers).toEqual(["istio-proxy", "web"]);
    expect(proxy.lifecycle).toEqual({ postStart: { exec: { command: ["pilot-agent", "wait"] } } });
  });

  it("leaves checking to istio-validation, and tells a CNI plugin what to capture", () => {
    const { inits, annotations, container } = injected({
      values: { pilot: { cni: { enabled: true } } },
      annotations: { "traffic.sidecar.istio.io/excludeOutboundPorts": "3306" },
    });
    expect(inits).toEqual(["istio-validation"]);
    expect(listOf(container("istio-validation").args).slice(-2)).toEqual(["--run-validation", "--skip-rule-apply"]);
    expect(container("istio-validation").securityContext).toMatchObject({
      runAsUser: 1337,
      capabilities: { drop: ["ALL"] },
    });
    expect(annotations).toMatchObject({
      "sidecar.istio.io/interceptionMode": "REDIRECT",
      "traffic.sidecar.istio.io/includeInboundPorts": "*",
      "traffic.sidecar.istio.io/excludeInboundPorts": "15020",
      "traffic.sidecar.istio.io/includeOutboundIPRanges": "*",
      "traffic.sidecar.istio.io/excludeOutboundPorts": "3306",
    });
    expect(annotations).not.toHaveProperty(["traffic.sidecar.istio.io/excludeOutboundIPRanges"]);
  });

  it("goes among the networks of Multus, in either form", () => {
    const values = { pilot: { cni: { enabled: true, provider: "multus" } } };
    const networks = (text?: string) =>
      injected({ values, annotations: text === undefined ? {} : { "k8s.v1.cni.cncf.io/networks": text } }).annotations[
        "k8s.v1.cni.cncf.io/networks"
      ];
    expect(networks()).toBe("default/istio-cni");
    expect(networks("other")).toBe("other, default/istio-cni");
    expect(JSON.parse(networks('[{"name":"other"}]') ?? "")).toEqual([
      { name: "other" },
      { name: "istio-cni", namespace: "default" },
    ]);
  });
});

describe("annotations of a pod", () => {
  const traffic = "traffic.sidecar.istio.io";
  it.each([
    [`${traffic}/includeOutboundIPRanges`, "10.0.0.0/8", "-i"],
    [`${traffic}/excludeOutboundIPRanges`, "10.1.0.0/16,10.2.0.0/16", "-x"],
    [`${traffic}/includeInboundPorts`, "80,8080", "-b"],
    [`${traffic}/includeOutboundPorts`, "443", "-q"],
    [`${traffic}/excludeOutboundPorts`, "3306,5432", "-o"],
    [`${traffic}/excludeInterfaces`, "eth1", "-c"],
    [`${traffic}/kubevirtInterfaces`, "net1", "-k"],
    ["istio.io/reroute-virtual-interfaces", "net2", "-k"],
    ["sidecar.istio.io/interceptionMode", "TPROXY", "-m"],
  ])("%s is an argument of istio-iptables", (name, value, flag) => {
    expect(flagOf(injected({}).args, flag)).not.toBe(value);
    expect(flagOf(injected({ annotations: { [name]: value } }).args, flag)).toBe(value);
  });

  it("ports of the agent are left alone besides those that are excluded", () => {
    const excluded = (annotations: Readonly<Record<string, string>>) => flagOf(injected({ annotations }).args, "-d");
    expect(excluded({})).toBe("15090,15021,15020");
    expect(excluded({ [`${traffic}/excludeInboundPorts`]: "8081" })).toBe("15090,15021,8081,15020");
    expect(excluded({ [`${traffic}/excludeInboundPorts`]: "15020" })).toBe("15090,15021,15020");
    expect(excluded({ "status.sidecar.istio.io/port": "0" })).toBe("15090,15021");
  });

  it("a mode of NONE captures nothing", () => {
    expect(injected({ annotations: { "sidecar.istio.io/interceptionMode": "NONE" } }).inits).toEqual([]);
  });

  it("a mode of TPROXY makes the proxy root with NET_ADMIN", () => {
    const { proxy } = injected({ annotations: { "sidecar.istio.io/interceptionMode": "TPROXY" } });
    expect(proxy.securityContext).toMatchObject({
      runAsUser: 0,
      runAsNonRoot: false,
      capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
    });
  });

  it.each([
    ["sidecar.istio.io/logLevel", "debug", "--proxyLogLevel=debug"],
    ["sidecar.istio.io/componentLogLevel", "http:trace", "--proxyComponentLogLevel=http:trace"],
    ["sidecar.istio.io/agentLogLevel", "xds:debug", "--log_output_level=xds:debug"],
  ])("%s is an argument of the agent", (name, value, argument) => {
    expect(injected({ annotations: { [name]: value } }).proxy.args).toContain(argument);
  });

  it.each([
    [{ "sidecar.istio.io/proxyImage": "example.com/proxy:7" }, "example.com/proxy:7"],
    [{ "sidecar.istio.io/proxyImageType": "distroless" }, "registry.istio.io/release/proxyv2:1.30.3-distroless"],
    [{ "proxy.istio.io/config": "image: {imageType: debug}" }, "registry.istio.io/release/proxyv2:1.30.3-debug"],
  ])("%o names the image", (annotations, image) => {
    expect(injected({ annotations }).proxy.image).toBe(image);
  });

  it("one amount sets all those of the values aside", () => {
    const { proxy } = injected({
      annotations: { "sidecar.istio.io/proxyCPU": "50m", "sidecar.istio.io/proxyMemoryLimit": "1Gi" },
    });
    expect(proxy.resources).toEqual({ requests: { cpu: "50m" }, limits: { memory: "1Gi" } });
    expect(injected({}).proxy.resources).toEqual({
      requests: { cpu: "100m", memory: "128Mi" },
      limits: { cpu: "2000m", memory: "1024Mi" },
    });
  });

  it("probes of the proxy", () => {
    const readiness = "readiness.status.sidecar.istio.io";
    const { proxy } = injected({
      annotations: {
        [`${readiness}/initialDelaySeconds`]: "5",
        [`${readiness}/periodSeconds`]: "7",
        [`${readiness}/failureThreshold`]: "9",
      },
    });
    expect(proxy.readinessProbe).toMatchObject({ initialDelaySeconds: 5, periodSeconds: 7, failureThreshold: 9 });
    const none = injected({ annotations: { "status.sidecar.istio.io/port": "0" } }).proxy;
    expect([none.readinessProbe, none.startupProbe]).toEqual([undefined, undefined]);
  });

  it("volumes of the user's own, and another bootstrap", () => {
    const pod = injectedPod({
      annotations: {
        "sidecar.istio.io/userVolume": '{"certs":{"secret":{"secretName":"certs"}}}',
        "sidecar.istio.io/userVolumeMount": '{"certs":{"mountPath":"/certs","readOnly":true}}',
        "sidecar.istio.io/bootstrapOverride": "mine",
      },
    });
    expect(looked(pod).proxy.volumeMounts).toContainEqual({ name: "certs", mountPath: "/certs", readOnly: true });
    expect(pod.spec.volumes).toContainEqual({ name: "certs", secret: { secretName: "certs" } });
    expect(pod.spec.volumes).toContainEqual({ name: "custom-bootstrap-volume", configMap: { name: "mine" } });
    expect(looked(pod).variable("ISTIO_BOOTSTRAP_OVERRIDE")).toBe("/etc/istio/custom-bootstrap/custom_bootstrap.json");
  });

  it("settings of the proxy without what is as in Istio's defaults", () => {
    const config = "concurrency: 4\nproxyMetadata: {ISTIO_META_DNS_CAPTURE: 'true'}";
    const { variable } = injected({ annotations: { "proxy.istio.io/config": config } });
    expect(JSON.parse(String(variable("PROXY_CONFIG")))).toEqual({
      concurrency: 4,
      proxyMetadata: { ISTIO_META_DNS_CAPTURE: "true" },
    });
    expect(variable("ISTIO_META_DNS_CAPTURE")).toBe("true");
  });

  it.each([
    [`${traffic}/includeOutboundIPRanges`, "10.0.0.0"],
    [`${traffic}/excludeInboundPorts`, "80,a"],
    [`${traffic}/excludeOutboundPorts`, "70000"],
    ["sidecar.istio.io/proxyCPU", "much"],
    ["sidecar.istio.io/interceptionMode", "SOME"],
    ["status.sidecar.istio.io/port", "x"],
    ["prometheus.istio.io/merge-metrics", "maybe"],
    ["proxy.istio.io/config", "concurrency: [1]"],
    ["sidecar.istio.io/userVolume", "[]"],
    ["prometheus.istio.io/scrape-targets", "http"],
  ])("%s: %s refuses the pod", (name, value) => {
    expect(() => injectedPod({ annotations: { [name]: value } })).toThrow(name);
  });

  it("a template that is not there refuses the pod, and says which are", () => {
    expect(() => injectedPod({ annotations: { "inject.istio.io/templates": "sidecar, mine" } })).toThrow(
      'requested template "mine" not found; there are sidecar, gateway, portolan',
    );
  });
});

describe("what a pod says of its proxy beforehand", () => {
  const own = {
    name: "istio-proxy",
    image: "auto",
    resources: { limits: { cpu: "3" } },
    env: [{ name: "MINE", value: "1" }],
  };
  const spec = { containers: [{ name: "web", image: "web:1" }, own] };

  it.each([[false], [true]])("lies over the template, and is noted; native: %s", (isNative) => {
    const { proxy, variable, annotations, containers } = injected({
      spec,
      values: { pilot: { env: { ENABLE_NATIVE_SIDECARS: isNative } } },
    });
    expect(proxy).toMatchObject({
      image: "registry.istio.io/release/proxyv2:1.30.3",
      resources: { limits: { cpu: "3", memory: "1024Mi" } },
    });
    expect(variable("MINE")).toBe("1");
    expect(variable("PILOT_CERT_PROVIDER")).toBe("istiod");
    expect(containers).toEqual(isNative ? ["web"] : ["web", "istio-proxy"]);
    const { image: _auto, ...noted } = own;
    expect(JSON.parse(annotations["proxy.istio.io/overrides"] ?? "")).toEqual({
      [isNative ? "initContainers" : "containers"]: [noted],
    });
  });

  it("is no application: its user is the one whose traffic is not captured", () => {
    const user = { name: "istio-proxy", image: "auto", securityContext: { runAsUser: 1234 } };
    const { args, proxy, variable } = injected({ spec: { containers: [{ name: "web", image: "web:1" }, user] } });
    expect(flagOf(args, "-u")).toBe("1234");
    expect(fieldsOf(proxy.securityContext)).toMatchObject({ runAsUser: 1234, runAsGroup: 1337 });
    expect(variable("ISTIO_META_APP_CONTAINERS")).toBe("web");
  });
});

describe("a template of the installation's own", () => {
  it("is merged over the pod as it is", () => {
    const values = {
      portolan: {
        templates: { spire: { spec: { volumes: [{ name: "workload-socket", csi: { driver: "csi.spiffe.io" } }] } } },
      },
    };
    const pod = injectedPod({ values, annotations: { "inject.istio.io/templates": "sidecar,spire" } });
    expect(pod.spec.volumes).toContainEqual({
      name: "workload-socket",
      emptyDir: {},
      csi: { driver: "csi.spiffe.io" },
    });
    expect(written({}).spec.volumes).toBeUndefined();
  });
});
