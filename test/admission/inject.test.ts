import { describe, expect, it } from "vitest";
import { admissionApp } from "../../lib/admission/app.ts";
import { mutatingConfiguration } from "../../lib/admission/manifests/webhooks.ts";
import { type WorldReader, WorldUnread } from "../../lib/admission/world-reader.ts";
import { type Fields, fieldsOf, jsonIn, listOf, textOf } from "../../lib/base/untyped.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { readInjectionValues } from "../../lib/injection/values.ts";

const pod: Fields = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "web-", labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};

async function answer(object: object, world?: WorldReader, path = "/admission/inject") {
  const injection = readInjectionValues({}, "values");
  const app = admissionApp({ workloads: "allow", injection, ...(world === undefined ? {} : { world }) });
  const request = { uid: "1", operation: "CREATE", namespace: "shop", object };
  const response = await app.request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request }),
  });
  const { allowed, patch, patchType, status, warnings } = fieldsOf(fieldsOf(await response.json()).response);
  const operations = listOf(jsonIn(atob(textOf(patch)))).map(fieldsOf);
  const valueAt = (at: string) => operations.find((one) => one.path === at)?.value;
  return {
    code: response.status,
    allowed,
    patchType,
    operations,
    valueAt,
    warnings,
    message: textOf(fieldsOf(status).message),
  };
}

describe("the injecting webhook", () => {
  it("patches a pod that is made", async () => {
    const { allowed, patchType, operations, valueAt } = await answer(pod);
    expect({ allowed, patchType }).toEqual({ allowed: true, patchType: "JSONPatch" });
    expect(operations.map(({ op, path }) => `${op} ${path}`)).toEqual([
      "replace /metadata/labels",
      "add /metadata/annotations",
      "replace /spec/containers",
      "add /spec/volumes",
      "add /spec/initContainers",
    ]);
    expect(listOf(valueAt("/spec/containers")).map((one) => fieldsOf(one).name)).toEqual(["web", "istio-proxy"]);
  });

  it("takes the mesh's settings and ProxyConfig objects of the newest world", async () => {
    const proxyConfig = {
      apiVersion: "networking.istio.io/v1beta1",
      kind: "ProxyConfig",
      metadata: { name: "web", namespace: "shop" },
      spec: { selector: { matchLabels: { app: "web" } }, concurrency: 7 },
    };
    const loaded = readFiles([
      { file: "mesh.yaml", text: "defaultConfig: {holdApplicationUntilProxyStarts: true}" },
      { file: "a.yaml", text: JSON.stringify(proxyConfig) },
    ]);
    const { valueAt } = await answer(pod, async () => ({ loaded, clusterIds: ["Kubernetes"], otherHosts: [] }));
    const [proxy] = listOf(valueAt("/spec/containers")).map(fieldsOf);
    expect(proxy?.name).toBe("istio-proxy");
    const settings = listOf(proxy?.env)
      .map(fieldsOf)
      .find(({ name }) => name === "PROXY_CONFIG");
    expect(jsonIn(textOf(settings?.value))).toEqual({ concurrency: 7, holdApplicationUntilProxyStarts: true });
  });

  it.each([
    [["v1.33.1", "v1.35.4-eks-1"], true],
    [["v1.33.1", "v1.32.9"], false],
    [["v1.33.1", ""], false],
    [[], false],
  ])("makes a native sidecar where all kubelets can: %j", async (versions, isNative) => {
    const nodes = versions.map((kubeletVersion, at) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: `node-${at}` },
      status: kubeletVersion === "" ? {} : { nodeInfo: { kubeletVersion } },
    }));
    const loaded = readFiles([{ file: "a.yaml", text: nodes.map((one) => JSON.stringify(one)).join("\n---\n") }]);
    const { valueAt } = await answer(pod, async () => ({ loaded, clusterIds: ["Kubernetes"], otherHosts: [] }));
    const inits = listOf(valueAt("/spec/initContainers")).map((one) => fieldsOf(one).name);
    expect(inits).toEqual(isNative ? ["istio-init", "istio-proxy"] : ["istio-init"]);
  });

  it("leaves other pods as they are", async () => {
    const host = { ...pod, spec: { ...fieldsOf(pod.spec), hostNetwork: true } };
    expect(await answer(host)).toMatchObject({ allowed: true, operations: [] });
  });

  it("warns of annotations without effect", async () => {
    const annotations = { "sidecar.istio.io/logLevel": "verbose" };
    const { warnings, valueAt } = await answer({ ...pod, metadata: { ...fieldsOf(pod.metadata), annotations } });
    expect(warnings).toEqual([expect.stringContaining("invalid value 'verbose'")]);
    expect(valueAt("/spec/containers")).toBeDefined();
  });

  it("refuses a pod whose annotations cannot be read", async () => {
    const wrong = { ...pod, metadata: { annotations: { "sidecar.istio.io/proxyCPU": "much" } } };
    expect(await answer(wrong)).toMatchObject({
      allowed: false,
      message: expect.stringContaining("sidecar.istio.io/proxyCPU"),
    });
  });

  it("answers nothing while the mesh's settings cannot be read", async () => {
    const world = () => Promise.reject(new WorldUnread("no store"));
    expect((await answer(pod, world)).code).toBe(503);
  });
});

describe("the configuration of the injecting webhook", () => {
  const webhooks = (revision: string, enableNamespacesByDefault = false) =>
    listOf(
      mutatingConfiguration({
        address: { kind: "url", url: "https://a.com" },
        failurePolicy: "Fail",
        exceptNamespaces: [],
        revision,
        enableNamespacesByDefault,
      }).webhooks,
    ).map(fieldsOf);

  /** Whether a selector takes an object with labels, as Kubernetes reads it. */
  const takes = (selector: unknown, labels: Readonly<Record<string, string>>): boolean =>
    listOf(fieldsOf(selector).matchExpressions)
      .map(fieldsOf)
      .every(({ key, operator, values }) => {
        const value = labels[textOf(key)];
        const isAmong = value !== undefined && listOf(values).includes(value);
        return operator === "In" ? isAmong : operator === "NotIn" ? !isAmong : value === undefined;
      });
  const isInjected = (
    of: ReturnType<typeof webhooks>,
    namespace: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>>,
  ) => of.filter((one) => takes(one.namespaceSelector, namespace) && takes(one.objectSelector, labels)).length;

  const enabled = { "istio-injection": "enabled" };
  const revised = { "istio.io/rev": "canary" };
  it.each([
    ["default", {}, {}, 0],
    ["default", enabled, {}, 1],
    ["default", enabled, { "sidecar.istio.io/inject": "false" }, 0],
    ["default", { "istio-injection": "disabled" }, { "sidecar.istio.io/inject": "true" }, 0],
    ["default", {}, { "sidecar.istio.io/inject": "true" }, 1],
    ["default", {}, { "sidecar.istio.io/inject": "true", ...revised }, 0],
    ["default", { "istio.io/rev": "default" }, {}, 1],
    ["default", revised, {}, 0],
    ["canary", revised, {}, 1],
    ["canary", { ...revised, ...enabled }, {}, 0],
    ["canary", {}, revised, 1],
    ["canary", {}, { ...revised, "sidecar.istio.io/inject": "false" }, 0],
    ["canary", enabled, {}, 0],
  ])("revision %s, namespace %o, pod %o: by %i webhooks", (revision, namespace, labels, count) => {
    expect(isInjected(webhooks(revision), namespace, labels)).toBe(count);
  });

  it("takes pods without any label where that is asked for, but for the system's", () => {
    const all = webhooks("default", true);
    expect(isInjected(all, { "kubernetes.io/metadata.name": "shop" }, {})).toBe(1);
    expect(isInjected(all, { "kubernetes.io/metadata.name": "kube-system" }, {})).toBe(0);
  });
});
