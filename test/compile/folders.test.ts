import { describe, expect, it } from "vitest";
import { project } from "../../lib/base/classifier.ts";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { readPoll } from "../../lib/front/polls/poll-request.ts";
import { limits } from "../../lib/limits/limits.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { saidBy } from "./said-by.ts";

const meta = (name: string, more: object = {}) => ({ name, namespace: "shop", ...more });
const service = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: meta(name),
  spec: {
    clusterIP: "10.0.0.1",
    selector: { app: name },
    ports: [{ name: "http", port: 80, targetPort: "web" }],
    ...spec,
  },
});
const container = { name: "app", ports: [{ name: "web", containerPort: 8080 }] };
const template = (app: string, labels: object = {}, spec: object = {}) => ({
  metadata: { labels: { app, ...labels } },
  spec: { serviceAccountName: app, containers: [container], ...spec },
});
const workload = (kind: string, name: string, spec: object) => ({
  apiVersion:
    kind === "Job" || kind === "CronJob" ? "batch/v1" : kind === "Rollout" ? "argoproj.io/v1alpha1" : "apps/v1",
  kind,
  metadata: meta(name),
  spec,
});
const deployment = (name: string, labels: object = {}, spec: object = {}) =>
  workload("Deployment", name, { selector: { matchLabels: { app: name } }, template: template(name, labels, spec) });
const pod = (name: string, app: string, podIP: string, more: object = {}, status: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: meta(name, { labels: { app, "security.istio.io/tlsMode": "istio" }, ...more }),
  spec: { serviceAccountName: app, containers: [container] },
  status: { podIP, ...status },
});
const namespace = (labels: object) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels } });
const injected = namespace({ "istio-injection": "enabled" });

const filesOf = (objects: readonly object[], settings?: string): readonly SourceFile[] => [
  { file: "all.yaml", text: `${objects.map((object) => JSON.stringify(object)).join("\n---\n")}\n` },
  ...(settings === undefined ? [] : [{ file: "portolan.yaml", text: settings }]),
];

function compiled(files: readonly SourceFile[]) {
  const { value, diagnostics } = createFileCompiler(defaultWorldOptions)(files, []);
  return { ...value, said: diagnostics.map(({ code, message }) => `${code}: ${message}`) };
}

/** One cluster of a class, as it is polled, parsed. */
function cluster(files: readonly SourceFile[], name: string) {
  const [first] = compiled(files).classes;
  const found = resourcesIn(first?.poll.clusters ?? []).find((resource) => resource.name === name);
  return found === undefined ? undefined : JSON.parse(found.text);
}

interface Endpoint {
  readonly endpoint: {
    readonly address: { readonly socketAddress: { readonly address: string; readonly portValue: number } };
  };
  readonly healthStatus?: string;
}

/** `10.1.0.1:8080`, of a cluster as it is polled. */
function endpointsOf(files: readonly SourceFile[], host = "web", port = 80): readonly string[] {
  const found = cluster(files, `outbound|${port}||${host}.shop.svc.cluster.local`);
  const groups: readonly { readonly lbEndpoints: readonly Endpoint[] }[] = found?.loadAssignment?.endpoints ?? [];
  return groups.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map(({ endpoint: { address }, healthStatus }) => {
      const { address: ip, portValue } = address.socketAddress;
      return `${ip}:${portValue}${healthStatus === undefined || healthStatus === "HEALTHY" ? "" : ` ${healthStatus}`}`;
    }),
  );
}

const proxies = (objects: readonly object[]) =>
  proxiesIn(filesOf(objects)).map(({ proxy: { type, id } }) => `${type} ${id}`);

describe("a workload template without pods", () => {
  it.each([
    ["Deployment", { template: template("web") }, "web"],
    ["StatefulSet", { template: template("web") }, "web-0"],
    ["DaemonSet", { template: template("web") }, "web"],
    ["ReplicaSet", { template: template("web") }, "web"],
    ["Rollout", { template: template("web") }, "web"],
    ["Job", { template: template("web") }, "web"],
    ["CronJob", { jobTemplate: { spec: { template: template("web") } } }, "web"],
  ])("stands for the pods of a %s", (kind, spec, name) => {
    expect(proxies([injected, workload(kind, "web", spec)])).toEqual([`sidecar ${name}.shop`]);
  });

  it("has the class that its pods have when they come", () => {
    const inFolder = [injected, service("web"), deployment("web", { version: "v1" })];
    const { classifier, nodes } = compiled(filesOf(inFolder));
    const owner = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d4f", controller: true }];
    const labels = { app: "web", version: "v1", "pod-template-hash": "5d4f", "security.istio.io/tlsMode": "istio" };
    const real = pod("web-5d4f-x1", "web", "10.1.0.7", { labels, generateName: "web-5d4f-", ownerReferences: owner });
    const [running] = proxiesIn(filesOf([injected, service("web"), real]));
    if (running === undefined) throw new Error("the pod has a proxy");
    const { node } = bootstrapFor(running, "http://127.0.0.1:8080", 0);
    const sent = readPoll(JSON.stringify({ node }), limits);
    if ("problem" in sent) throw new Error(sent.problem);
    expect(classifier.classes[project(classifier, sent.request.node) ?? ""]).toBe(nodes[0]?.classId);
    expect(nodes).toHaveLength(1);
  });

  it("serves what the services that select it say, at its containers' ports", () => {
    const { classes } = compiled(filesOf([injected, service("web"), deployment("web")]));
    expect(classes.flatMap(({ stream }) => resourcesIn(stream.clusters).map(({ name }) => name))).toContain(
      "inbound|8080||",
    );
  });

  it("is a gateway where a Gateway selects it", () => {
    const gateway = {
      apiVersion: "networking.istio.io/v1",
      kind: "Gateway",
      metadata: meta("web"),
      spec: {
        selector: { app: "web" },
        servers: [{ hosts: ["*"], port: { number: 80, name: "http", protocol: "HTTP" } }],
      },
    };
    expect(proxies([injected, deployment("web"), gateway])).toEqual(["router web.shop"]);
  });

  it("gives way to a pod of its own, and comes back when that goes", () => {
    const compile = createFileCompiler(defaultWorldOptions);
    const names = (objects: readonly object[]) =>
      compile(filesOf(objects), []).value.nodes.flatMap(({ keys }) => keys.slice(0, 1));
    const own = pod("web-1", "web", "10.1.0.1");
    expect(names([injected, deployment("web")])).toEqual(["web.shop"]);
    expect(names([injected, deployment("web"), own])).toEqual(["web-1.shop"]);
    expect(names([injected, deployment("web")])).toEqual(["web.shop"]);
    const owned = pod("cron-1", "other", "10.1.0.2", {
      generateName: "cron-29461234-",
      ownerReferences: [{ kind: "Job", name: "cron-29461234", controller: true }],
    });
    const cronJob = workload("CronJob", "cron", { jobTemplate: { spec: { template: template("cron") } } });
    expect(names([injected, cronJob, owned])).toEqual(["cron-1.shop"]);
  });

  it("leaves it to its owner, and to another of its name only the name", () => {
    const replicas = workload("ReplicaSet", "web-5d4f", { template: template("web") });
    const owned = {
      ...replicas,
      metadata: meta("web-5d4f", { ownerReferences: [{ kind: "Deployment", name: "web", controller: true }] }),
    };
    expect(proxies([injected, deployment("web"), owned])).toEqual(["sidecar web.shop"]);
    const job = workload("Job", "web", { template: template("once") });
    expect(proxies([injected, job, deployment("web")])).toEqual(["sidecar web.shop", "sidecar web-job.shop"]);
  });

  it("goes by a name that ends where its namespace begins", () => {
    expect(proxies([injected, deployment("web.v1")])).toEqual(["sidecar web-v1.shop"]);
  });

  it("is found by its name and not by its address, which no pod has", () => {
    expect(compiled(filesOf([injected, deployment("web")])).nodes.map(({ keys }) => keys)).toEqual([
      ["web.shop", "web/web.shop"],
    ]);
  });
});

describe("injection, as Istio's webhook decides", () => {
  const on = { "sidecar.istio.io/inject": "true" };
  const off = { "sidecar.istio.io/inject": "false" };
  it.each([
    { of: "a namespace that asks for it", ns: { "istio-injection": "enabled" }, want: true },
    { of: "a namespace of a revision", ns: { "istio.io/rev": "stable" }, want: true },
    { of: "a namespace that says nothing", ns: {}, want: false },
    { of: "a namespace that refuses it", ns: { "istio-injection": "disabled" }, labels: on, want: false },
    {
      of: "a namespace that refuses it and has a revision",
      ns: { "istio-injection": "disabled", "istio.io/rev": "a" },
      want: false,
    },
    { of: "a pod that asks for it by label", ns: {}, labels: on, want: true },
    { of: "a pod that asks for it by annotation alone", ns: {}, annotations: on, want: false },
    { of: "a pod of a revision", ns: {}, labels: { "istio.io/rev": "stable" }, want: true },
    { of: "a pod that refuses it by label", ns: { "istio-injection": "enabled" }, labels: off, want: false },
    { of: "a pod that refuses it by annotation", ns: { "istio-injection": "enabled" }, annotations: off, want: false },
    {
      of: "a pod whose label and annotation differ",
      ns: { "istio-injection": "enabled" },
      labels: on,
      annotations: off,
      want: true,
    },
    {
      of: "a pod in the host's network",
      ns: { "istio-injection": "enabled" },
      spec: { hostNetwork: true },
      want: false,
    },
    { of: "a namespace that nobody describes", ns: undefined, want: true },
    { of: "a pod that refuses it in such a namespace", ns: undefined, labels: off, want: false },
  ])("for $of: $want", ({ ns, labels = {}, annotations = {}, spec = {}, want }) => {
    const own = { metadata: { labels: { app: "web", ...labels }, annotations }, spec };
    const found = proxies([
      ...(ns === undefined ? [] : [namespace(ns)]),
      workload("Deployment", "web", { template: own }),
    ]);
    expect(found).toEqual(want ? ["sidecar web.shop"] : []);
  });

  it("leaves Kubernetes' own namespaces and the control plane alone", () => {
    for (const name of ["kube-system", "istio-system"]) {
      expect(proxies([{ ...deployment("web"), metadata: { name: "web", namespace: name } }])).toEqual([]);
    }
  });

  it("is said once to be assumed", () => {
    const { said } = compiled(filesOf([deployment("web"), deployment("other")]));
    expect(said).toEqual([
      "injection-assumed: pods are assumed to get a proxy, because there is no object for their namespace shop",
    ]);
  });
});

describe("a service without EndpointSlices", () => {
  const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });

  it("has the endpoints that its pods are", () => {
    const objects = [
      service("web"),
      pod("web-2", "web", "10.1.0.2", {}, ready("True")),
      pod("web-1", "web", "10.1.0.1"),
      pod("web-3", "web", "10.1.0.3", {}, ready("False")),
      pod("web-4", "web", "10.1.0.4", {}, { phase: "Succeeded" }),
      pod("other-1", "other", "10.1.0.5"),
    ];
    expect(endpointsOf(filesOf(objects))).toEqual(["10.1.0.1:8080", "10.1.0.2:8080", "10.1.0.3:8080 UNHEALTHY"]);
    expect(endpointsOf(filesOf([service("web", { publishNotReadyAddresses: true }), ...objects.slice(1)]))).toContain(
      "10.1.0.3:8080",
    );
  });

  it("has those of its slices alone where it has some", () => {
    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: meta("web-1", { labels: { "kubernetes.io/service-name": "web" } }),
      addressType: "IPv4",
      endpoints: [],
      ports: [{ name: "http", port: 8080 }],
    };
    expect(endpointsOf(filesOf([service("web"), pod("web-1", "web", "10.1.0.1"), slice]))).toEqual([]);
  });

  it("follows its pods", () => {
    const compile = createFileCompiler(defaultWorldOptions);
    const addresses = (...pods: readonly object[]) => {
      const { value } = compile(filesOf([service("web"), pod("client", "client", "10.1.0.9"), ...pods]), []);
      return (
        resourcesIn(value.classes[0]?.poll.clusters ?? [])
          .find(({ name }) => name.startsWith("outbound|80||web"))
          ?.text.match(/10\.1\.0\.\d/g) ?? []
      );
    };
    expect(addresses()).toEqual([]);
    expect(addresses(pod("web-1", "web", "10.1.0.1"))).toEqual(["10.1.0.1"]);
    expect(addresses(pod("web-1", "web", "10.1.0.1"), pod("web-2", "web", "10.1.0.2"))).toEqual([
      "10.1.0.1",
      "10.1.0.2",
    ]);
    expect(addresses(pod("web-2", "web", "10.1.0.2"))).toEqual(["10.1.0.2"]);
  });

  it("has none that anybody knows behind templates, which is said once with what to do", () => {
    const objects = [injected, service("web"), service("cart"), deployment("web"), deployment("cart")];
    expect(endpointsOf(filesOf(objects))).toEqual([]);
    const { diagnostics } = createFileCompiler(defaultWorldOptions)(filesOf(objects), []);
    expect(diagnostics).toMatchObject([
      {
        code: "endpoints-unknown",
        severity: "warning",
        origin: { key: { kind: "Service", name: "cart" } },
        message: expect.stringContaining("2 services shop/cart, shop/web"),
        hint: expect.stringContaining("`endpoints` in portolan.yaml"),
      },
    ]);
  });
});

describe("endpoints that portolan.yaml states", () => {
  const objects = [injected, service("web"), deployment("web", { version: "v1" })];

  it.each([
    { hosts: "[10.1.0.1]", want: ["10.1.0.1:8080"] },
    { hosts: '["10.1.0.1:9000", "10.1.0.2:9001"]', want: ["10.1.0.1:9000", "10.1.0.2:9001"] },
    { hosts: '["[fd00::1]:9000", "fd00::2"]', want: ["fd00::1:9000", "fd00::2:8080"] },
    { hosts: '["{name}", "{name}-2.{namespace}.internal:9000"]', want: ["web:8080", "web-2.shop.internal:9000"] },
  ])("for a workload may be $hosts", ({ hosts, want }) => {
    const files = filesOf(objects, `endpoints: [{workload: shop/web, hosts: ${hosts}}]`);
    expect(endpointsOf(files)).toEqual(want);
    expect(compiled(files).said).toEqual([]);
  });

  it("are resolved by Envoy where they are names", () => {
    const byName = filesOf(objects, "endpoints: [{workload: shop/web, hosts: [web.internal]}]");
    const byAddress = filesOf(objects, "endpoints: [{workload: shop/web, hosts: [10.1.0.1]}]");
    const name = "outbound|80||web.shop.svc.cluster.local";
    expect([cluster(byName, name).type, cluster(byAddress, name).type]).toEqual(["STRICT_DNS", "STATIC"]);
    const compile = createFileCompiler(defaultWorldOptions);
    const typeOf = (files: readonly SourceFile[]) =>
      JSON.parse(
        resourcesIn(compile(files, []).value.classes[0]?.poll.clusters ?? []).find((one) => one.name === name)?.text ??
          "{}",
      ).type;
    expect(
      [byName, byAddress, byName, filesOf([...objects, pod("web-1", "web", "10.1.0.9")], byName[1]?.text)].map(typeOf),
    ).toEqual(["STRICT_DNS", "STATIC", "STRICT_DNS", "STATIC"]);
  });

  it("carry the template's labels, so that subsets find them, and their own", () => {
    const rule = {
      apiVersion: "networking.istio.io/v1",
      kind: "DestinationRule",
      metadata: meta("web"),
      spec: {
        host: "web",
        subsets: [
          { name: "v1", labels: { version: "v1" } },
          { name: "east", labels: { zone: "east" } },
        ],
      },
    };
    const files = filesOf([...objects, rule], "endpoints: [{workload: '*', hosts: ['{name}'], labels: {zone: east}}]");
    for (const subset of ["v1", "east"]) {
      const found = cluster(files, `outbound|80|${subset}|web.shop.svc.cluster.local`);
      expect(JSON.stringify(found.loadAssignment)).toContain('"address":"web"');
    }
  });

  it("may be stated for a service, whatever stands behind it", () => {
    const external = service("web", { selector: undefined, ports: [{ port: 80, targetPort: 8000 }] });
    const files = filesOf(
      [external, pod("client", "client", "10.1.0.9")],
      "endpoints: [{service: shop/web, hosts: [10.1.0.1]}]",
    );
    expect(endpointsOf(files)).toEqual(["10.1.0.1:8000"]);
  });

  it("mean by a port the target of one of several ports", () => {
    const both = service("web", {
      ports: [
        { name: "http", port: 80, targetPort: 8080 },
        { name: "tcp", port: 90, targetPort: 9090 },
      ],
    });
    const files = filesOf(
      [injected, both, deployment("web")],
      "endpoints: [{workload: shop/web, hosts: ['10.1.0.1:9090', '10.1.0.2:1']}]",
    );
    expect([endpointsOf(files, "web", 80), endpointsOf(files, "web", 90)]).toEqual([[], ["10.1.0.1:9090"]]);
    expect(compiled(files).said).toEqual([
      "stated-endpoints-unusable: none of its ports leads to a port of 10.1.0.2:1",
    ]);
  });

  it("are told when nothing answers to them", () => {
    const files = filesOf(
      objects,
      "endpoints: [{workload: web, hosts: [a]}, {service: shop/gone, hosts: [b]}, {workload: '*', hosts: ['{name}']}]",
    );
    expect(compiled(files).said).toEqual([
      "stated-endpoints-unusable: states endpoints of default/web: there is no such workload, or its pods are known",
      "stated-endpoints-unusable: states endpoints of shop/gone: there is no such service",
    ]);
  });

  it.each([
    ["endpoint: []", 'unknown-field: unknown field "endpoint"'],
    ["endpoints: [{hosts: [a]}]", "missing-field: names neither or both of workload and service"],
    ["endpoints: [{workload: a/b/c, hosts: [a]}]", "invalid-value: must be a name, or namespace/name"],
    ["endpoints: [{workload: a, hosts: ['a b']}]", 'invalid-value: "a b" is neither a host nor host:port'],
    ["endpoints: [{workload: a, hosts: ['a:0']}]", 'invalid-value: "a:0" is neither a host nor host:port'],
    ["endpoints: [{workload: a, hosts: []}]", "invalid-value: a list must name one host at least"],
    ["endpoints: [", "unreadable-document: "],
  ])("are refused as in %s", (settings, want) => {
    const said = saidBy(() => createFileCompiler(defaultWorldOptions)(filesOf([injected], settings), []));
    expect(said.map(({ code, message }) => `${code}: ${message}`)).toEqual([expect.stringContaining(want)]);
  });
});
