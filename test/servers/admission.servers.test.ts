import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { celKinds } from "../../lib/admission/manifests/cel-rules.ts";
import { fieldsOf, listOf } from "../../lib/base/untyped.ts";
import { runCli } from "../../lib/cli/program.ts";
import { startAdmission } from "../../lib/cli/serve/admission-server.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { schemaOf } from "../../lib/config/kind-registry.ts";
import type { RunningServer } from "../../lib/front/node-server.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { celSamples } from "../admission/cel-samples.ts";
import { eventually } from "../e2e/envoy.ts";
import { freePort } from "../free-port.ts";
import { type ApiServer, createObject, openApiServer } from "./api-server.ts";
import { installPlainKinds } from "./custom-resources.ts";
import { hasApiServer } from "./server-binaries.ts";

const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "ignore" });

/** An authority, and certificates of it for the webhook and for the API server that calls it. */
async function makeCertificates(folder: string): Promise<void> {
  const at = (name: string) => join(folder, name);
  await writeFile(at("san"), "subjectAltName=IP:127.0.0.1,DNS:localhost");
  const subject = (name: string) => ["-subj", `/CN=${name}`];
  openssl(
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.crt"),
    "-days",
    "2",
    ...subject("authority"),
  );
  for (const name of ["server", "client"]) {
    openssl(
      "req",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      at(`${name}.key`),
      "-out",
      at(`${name}.csr`),
      ...subject(name),
    );
    openssl(
      ...["x509", "-req", "-in", at(`${name}.csr`), "-CA", at("ca.crt"), "-CAkey", at("ca.key"), "-CAcreateserial"],
      ...["-days", "2", "-extfile", at("san"), "-out", at(`${name}.crt`)],
    );
  }
}

/** With which an API server shows a certificate to webhooks at an address. */
async function admissionControlConfig(folder: string, host: string): Promise<string> {
  const data = async (name: string) => (await readFile(join(folder, name))).toString("base64");
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    users: [
      {
        name: host,
        user: { "client-certificate-data": await data("client.crt"), "client-key-data": await data("client.key") },
      },
    ],
  };
  await writeFile(join(folder, "kubeconfig"), JSON.stringify(kubeconfig));
  const plugin = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "WebhookAdmissionConfiguration",
    kubeConfigFile: join(folder, "kubeconfig"),
  };
  const config = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AdmissionConfiguration",
    plugins: ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"].map((name) => ({
      name,
      configuration: plugin,
    })),
  };
  const file = join(folder, "admission.json");
  await writeFile(file, JSON.stringify(config));
  return file;
}

describe.skipIf(!hasApiServer())("admission, on a real API server", () => {
  let server: ApiServer;
  let webhooks: RunningServer;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-admission-"));
    await makeCertificates(folder);
    const port = await freePort();
    const file = await admissionControlConfig(folder, `127.0.0.1:${port}`);
    server = await openApiServer([`--admission-control-config-file=${file}`]);
    await installPlainKinds(server);
    await createObject(server, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const store = memoryStore();
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "cart", namespace: "shop" },
      spec: { ports: [{ name: "http", port: 80 }] },
    });
    await writeShard(store, "main", [{ file: "shop.yaml", text }]);
    const file2 = (name: string) => join(folder, name);
    const settings = {
      admission: {
        port,
        certificate: file2("server.crt"),
        key: file2("server.key"),
        clientAuthority: file2("ca.crt"),
        token: "secret",
        workloads: "refuse",
        injection: {},
      },
    } as const;
    webhooks = await startAdmission({ store, settings, log: pino({ level: "silent" }) });
  });
  afterAll(async () => {
    await webhooks?.close();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const printed = async (...args: readonly string[]): Promise<readonly Record<string, unknown>[]> => {
    const lines: string[] = [];
    const tell = (line: string) => void lines.push(line);
    const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
    expect(await runCli(["node", "portolan", "admission", "manifests", ...args, "--json"], terminal)).toBe(0);
    const read = fieldsOf(JSON.parse(lines.join("")));
    return read.kind === "List" ? listOf(read.items).map(fieldsOf) : [read];
  };

  /** What the API server does with an object. */
  const send = async (kind: string, name: string, spec: object, group = "networking.istio.io", version = "v1") => {
    const path = `/apis/${group}/${version}/namespaces/shop/${schemaOf(group, kind)?.plural}`;
    const response = await server.client.fetch(server.url + path, {
      method: "POST",
      headers: { authorization: server.authorization, "content-type": "application/json" },
      body: JSON.stringify({ apiVersion: `${group}/${version}`, kind, metadata: { name }, spec }),
    });
    const { message } = fieldsOf(await response.json());
    return { status: response.status, message: String(message ?? ""), warning: response.headers.get("warning") ?? "" };
  };
  const route = (host: string) => ({ hosts: ["cart"], http: [{ route: [{ destination: { host } }] }] });

  describe("with the webhook, over mutual TLS", () => {
    let path: string;
    beforeAll(async () => {
      const flags = ["--url", webhooks.url, "--ca", join(folder, "ca.crt"), "--token", "secret", "--deletes"];
      const [configuration = {}] = await printed(...flags);
      const base = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
      await server.ask("POST", base, configuration);
      path = `${base}/portolan-validator`;
      // A configuration is there before it counts.
      await eventually(
        () => send("VirtualService", "probe", { hosts: [1] }),
        ({ message }) => message.includes("denied the request"),
        30_000,
      );
    });
    afterAll(() => server.ask("DELETE", path));

    it("an invalid object is refused, with the reason", async () => {
      const { status, message } = await send("VirtualService", "wrong", { ...route("cart"), httpp: [] });
      expect(status).toBe(422);
      expect(message).toMatch(
        /^admission webhook "validate.portolan.dev" denied the request: configuration is invalid: .*httpp/,
      );
    });

    it("a valid one is allowed, without a warning", async () => {
      expect(await send("VirtualService", "right", route("cart"))).toEqual({ status: 201, message: "", warning: "" });
    });

    it("one that does not fit into the mesh is allowed, with a warning", async () => {
      const { status, warning } = await send("VirtualService", "lost", route("gone"));
      expect(status).toBe(201);
      expect(warning).toContain("IST0101");
    });

    it("a policy that closes workloads is refused, and its deletion is asked about", async () => {
      const close = await send("AuthorizationPolicy", "close", {}, "security.istio.io");
      expect(close).toMatchObject({ status: 422, message: expect.stringContaining("denies all requests") });
      const some = { action: "DENY", rules: [{ from: [{ source: { namespaces: ["a"] } }] }] };
      expect((await send("AuthorizationPolicy", "some", some, "security.istio.io")).status).toBe(201);
      const policies = "/apis/security.istio.io/v1/namespaces/shop/authorizationpolicies";
      await expect(server.ask("DELETE", `${policies}/some`)).rejects.toThrow("lets requests through that were refused");
      const meant = { metadata: { annotations: { "admission.portolan.dev/accept": "opens" } } };
      await server.ask("PATCH", `${policies}/some`, meant, "application/merge-patch+json");
      await server.ask("DELETE", `${policies}/some`);
    });

    it("nothing is answered without a client certificate", async () => {
      const response = server.client.fetch(`${webhooks.url}/admission/validate/secret`, { method: "POST", body: "{}" });
      await expect(response).rejects.toThrow();
    });
  });

  describe("with the injecting webhook", () => {
    const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    const make = (name: string, labels: object) =>
      createObject(server, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "shop", labels },
        // No controller gives pods their accounts here.
        spec: {
          serviceAccountName: "default",
          containers: [{ name: "web", image: "web:1", readinessProbe: { httpGet: { path: "/", port: 8080 } } }],
        },
      });
    const containersOf = (pod: Record<string, unknown>) =>
      listOf(fieldsOf(pod.spec).containers).map((one) => String(fieldsOf(one).name));
    beforeAll(async () => {
      const flags = ["--injection", "--url", webhooks.url, "--ca", join(folder, "ca.crt"), "--token", "secret"];
      const [configuration = {}] = await printed(...flags);
      await server.ask("POST", path, configuration);
      let probes = 0;
      await eventually(
        () => make(`probe-${probes++}`, { "sidecar.istio.io/inject": "true" }),
        (pod) => containersOf(pod).includes("istio-proxy"),
        30_000,
      );
    });
    afterAll(() => server.ask("DELETE", `${path}/portolan-sidecar-injector`));

    it("a pod gets a proxy that the API server takes", async () => {
      const pod = await make("web", { "sidecar.istio.io/inject": "true" });
      expect(containersOf(pod)).toEqual(["web", "istio-proxy"]);
      expect(fieldsOf(fieldsOf(pod.metadata).annotations)).toHaveProperty(["sidecar.istio.io/status"]);
    });

    it("pods that no label names are left alone", async () => {
      expect(containersOf(await make("plain", {}))).toEqual(["web"]);
      expect(containersOf(await make("not", { "sidecar.istio.io/inject": "false" }))).toEqual(["web"]);
    });

    it.each(["sidecar", "gateway", "portolan"])("the API server takes what the template %s makes", async (template) => {
      const pod = await createObject(server, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          generateName: "web-",
          namespace: "shop",
          labels: { "sidecar.istio.io/inject": "true" },
          annotations: { "inject.istio.io/templates": template, "sidecar.istio.io/nativeSidecar": "true" },
        },
        spec: {
          serviceAccountName: "default",
          containers: [
            template === "gateway" ? { name: "istio-proxy", image: "auto" } : { name: "web", image: "web:1" },
          ],
        },
      });
      const inits = listOf(fieldsOf(pod.spec).initContainers).map((one) => String(fieldsOf(one).name));
      expect([...inits, ...containersOf(pod)]).toEqual(
        {
          sidecar: ["istio-init", "istio-proxy", "web"],
          gateway: ["istio-proxy"],
          portolan: ["portolan-intercept", "portolan-agent", "web"],
        }[template],
      );
    });
  });

  describe("with policies in CEL", () => {
    const base = "/apis/admissionregistration.k8s.io/v1";
    beforeAll(async () => {
      for (const object of await printed("--policies", "--guard-workloads")) {
        const kind =
          object.kind === "ValidatingAdmissionPolicy"
            ? "validatingadmissionpolicies"
            : "validatingadmissionpolicybindings";
        await server.ask("POST", `${base}/${kind}`, object);
      }
      await eventually(
        () => send("WasmPlugin", "probe", {}, "extensions.istio.io", "v1alpha1"),
        ({ message }) => message.includes("spec.url is missing"),
        30_000,
      );
    });

    it("each rule refuses what breaks it, and what breaks none is allowed", async () => {
      const seen: Record<string, readonly string[]> = {};
      for (const { group, kind } of celKinds) {
        const version = group === "extensions.istio.io" ? "v1alpha1" : "v1";
        const answers: string[] = [];
        for (const [at, spec] of (celSamples[kind] ?? []).entries()) {
          const { status, message } = await send(kind, `${kind.toLowerCase()}-cel-${at}`, spec, group, version);
          answers.push(status === 201 ? "allowed" : (/configuration is invalid: (.*)$/.exec(message)?.[1] ?? message));
        }
        seen[kind] = answers;
      }
      expect(seen).toEqual(
        Object.fromEntries(
          celKinds.map(({ kind, rules }) => [kind, [...rules.map(({ message }) => message), "allowed"]]),
        ),
      );
    });

    it("a policy that denies all requests is refused", async () => {
      for (const spec of [{}, { action: "ALLOW", rules: [] }, { action: "DENY", rules: [{}] }]) {
        const { message } = await send("AuthorizationPolicy", "closing", spec, "security.istio.io");
        expect(message).toContain("the policy denies all requests");
      }
    });
  });
});
