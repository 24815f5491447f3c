/** Tokens of real API servers, by keys that they give themselves and by their own review, against a front's CA. */
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IstioCertificateService } from "../../gen/istio/auth/ca_pb.ts";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { type CertificateRecord, certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { clusterApis } from "../../lib/cli/server/cluster-keys.ts";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { serveGrpc } from "../../lib/front/connect/grpc-server.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { requestFor, testWrapper } from "../ca/requests.ts";
import { testFront } from "../front/fixtures.ts";
import { type ApiServer, createObject, openApiServer } from "./api-server.ts";
import { hasApiServer } from "./server-binaries.ts";

const core = (kind: string, name: string, spec: object = {}, namespace?: string) => ({
  apiVersion: "v1",
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  ...spec,
});
const rbac = "rbac.authorization.k8s.io";

/** A cluster with a pod, and an account that may have tokens reviewed and nothing else. */
async function openCluster(): Promise<ApiServer> {
  const api = await openApiServer();
  for (const namespace of ["shop", "portolan"]) await createObject(api, core("Namespace", namespace));
  await createObject(api, core("ServiceAccount", "web", {}, "shop"));
  await createObject(api, core("ServiceAccount", "front", {}, "portolan"));
  const spec = { serviceAccountName: "web", containers: [{ name: "app", image: "app" }] };
  for (const name of ["web-1", "web-2"]) await createObject(api, core("Pod", name, { spec }, "shop"));
  await createObject(api, {
    ...core("ClusterRoleBinding", "front"),
    apiVersion: `${rbac}/v1`,
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:auth-delegator" },
    subjects: [{ kind: "ServiceAccount", name: "front", namespace: "portolan" }],
  });
  return api;
}

/** A token as kubelet projects it into a pod. */
async function tokenFor(api: ApiServer, audience: string, pod = "web-1"): Promise<string> {
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: pod };
  const answer = await api.ask("POST", "/api/v1/namespaces/shop/serviceaccounts/web/token", {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [audience], expirationSeconds: 3_600, boundObjectRef },
  });
  return textOf(fieldsOf(answer.status).token);
}

/** A kubeconfig with a context for each cluster, as the account that may review. */
async function writeKubeconfig(file: string, clusters: Readonly<Record<string, ApiServer>>): Promise<void> {
  const parts = await Promise.all(
    Object.entries(clusters).map(async ([name, api]) => {
      const account = "/api/v1/namespaces/portolan/serviceaccounts/front/token";
      const { status } = await api.ask("POST", account, { spec: {} });
      const {
        clusters: [cluster],
        users: [user],
      } = JSON.parse(await api.kubeconfigFor(api.url, textOf(fieldsOf(status).token)));
      return {
        clusters: { ...cluster, name },
        users: { ...user, name },
        contexts: { name, context: { cluster: name, user: name } },
      };
    }),
  );
  const all = (part: "clusters" | "users" | "contexts") => parts.map((one) => one[part]);
  const config = { apiVersion: "v1", kind: "Config", "current-context": "east" };
  const lists = { clusters: all("clusters"), users: all("users"), contexts: all("contexts") };
  await writeFile(file, JSON.stringify({ ...config, ...lists }));
}

/** A front with a CA that believes the tokens of some issuers. */
async function openFront(issuers: readonly object[], kubeconfig: string) {
  const stored = authorityStore(memoryStore(), testWrapper());
  const active = await makeSigner("cluster.local", Date.now());
  await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
  const records: CertificateRecord[] = [];
  const { front } = testFront({
    authority: certificateAuthority({ stored, now: Date.now, onError: (cause) => expect.unreachable(String(cause)) }),
    authentication: readAuthentication(JSON.stringify({ issuers }), {
      clusterApi: clusterApis({ KUBECONFIG: kubeconfig }),
    }),
    onCertificate: (record) => records.push(record),
  });
  const grpc = await serveGrpc(front, 0);
  const client = createClient(IstioCertificateService, createGrpcTransport({ baseUrl: grpc.url }));
  const { csr } = await requestFor();
  return {
    records,
    /** The names of the certificate, or the code of the refusal. */
    async ask(token: string, clusterid = ""): Promise<string> {
      const headers = { authorization: `Bearer ${token}`, ...(clusterid === "" ? {} : { clusterid }) };
      return client.createCertificate({ csr }, { headers }).then(
        ({ certChain }) => new X509Certificate(certChain[0] ?? "").subjectAltName ?? "",
        (cause: unknown) => Code[ConnectError.from(cause).code] ?? "",
      );
    },
    async close() {
      front.close();
      await grpc.close();
    },
  };
}

const issuer = "https://kubernetes.default.svc";
const audience = ["istio-ca"];
const web = "URI:spiffe://cluster.local/ns/shop/sa/web";

describe.skipIf(!hasApiServer())("tokens of two real API servers", () => {
  let east: ApiServer;
  let west: ApiServer;
  let folder: string;
  let kubeconfig: string;
  let front: Awaited<ReturnType<typeof openFront>>;
  const open = async (issuers: readonly object[]) => {
    await front?.close();
    front = await openFront(issuers, kubeconfig);
  };

  beforeAll(async () => {
    [east, west] = await Promise.all([openCluster(), openCluster()]);
    folder = await mkdtemp(join(tmpdir(), "portolan-contexts-"));
    kubeconfig = join(folder, "kubeconfig");
    await writeKubeconfig(kubeconfig, { east, west });
  }, 150_000);
  afterAll(async () => {
    await front?.close();
    await Promise.all([east?.close(), west?.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  it("get a certificate by the keys that the API server gives itself, and none for another audience", async () => {
    await open([{ issuer, audience, discovery: "cluster" }]);
    expect(await front.ask(await tokenFor(east, "istio-ca"))).toBe(web);
    expect(front.records).toMatchObject([{ identity: web.slice(4), pod: "web-1" }]);
    expect(await front.ask(await tokenFor(east, "vault"))).toBe("Unauthenticated");
  });

  describe.each(["cluster", "review"])("by discovery %s, where both clusters call themselves alike", (discovery) => {
    beforeAll(() =>
      open([
        { issuer, audience, discovery, context: "east", clusterId: "east" },
        { issuer, audience, discovery, context: "west", clusterId: "west" },
      ]),
    );

    it.each([
      ["nothing", ""],
      ["its own", "west"],
      ["the other's", "east"],
    ])("count for the cluster that made them, if their agent names %s", async (_what, named) => {
      expect(await front.ask(await tokenFor(west, "istio-ca"), named)).toBe(web);
      expect(front.records.at(-1)).toMatchObject({ clusterId: "west", pod: "web-1" });
      expect(await front.ask(await tokenFor(east, "istio-ca"), named)).toBe(web);
      expect(front.records.at(-1)).toMatchObject({ clusterId: "east" });
    });

    it("are refused for another audience, and with another payload", async () => {
      expect(await front.ask(await tokenFor(west, "vault"))).toBe("Unauthenticated");
      const [head, , mark] = (await tokenFor(west, "istio-ca")).split(".");
      const payload = JSON.parse(atob((await tokenFor(west, "istio-ca")).split(".")[1] ?? ""));
      const forged = btoa(JSON.stringify({ ...payload, sub: "system:serviceaccount:kube-system:admin" }));
      expect(await front.ask([head, forged.replace(/=+$/, ""), mark].join("."))).toBe("Unauthenticated");
    });
  });

  it("count by review until their pod is gone, which no key tells", async () => {
    const review = { issuer, audience, discovery: "review", context: "east" };
    const token = await tokenFor(east, "istio-ca", "web-2");
    await east.ask("DELETE", "/api/v1/namespaces/shop/pods/web-2?gracePeriodSeconds=0");
    await open([{ ...review, discovery: "cluster" }]);
    expect(await front.ask(token)).toBe(web);
    await open([review]);
    expect(await front.ask(token)).toBe("Unauthenticated");
  });

  it("are told to be asked for again while an API server does not answer that may know them", async () => {
    const review = { issuer, audience, discovery: "review" };
    await open([
      { ...review, context: "east", clusterId: "east" },
      { ...review, context: "west", clusterId: "west" },
    ]);
    const [ofWest, ofEast] = [await tokenFor(west, "istio-ca"), await tokenFor(east, "istio-ca")];
    await west.kill();
    expect(await front.ask(ofWest)).toBe("Unavailable");
    expect(await front.ask(ofEast)).toBe(web);
  });
});
