import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificateProvider, grpcBootstrapOf } from "../../lib/agent/grpc-bootstrap.ts";
import { runCli } from "../../lib/cli/program.ts";
import { instanceName } from "../../lib/xds/grpc/certificate-provider.ts";
import { serverListenerName } from "../../lib/xds/names.ts";

const options = {
  nodeId: "sidecar~10.0.0.5~echo-1.shop~shop.svc.cluster.local",
  nodeCluster: "echo.shop",
  metadata: { GENERATOR: "grpc" },
  server: { host: "portolan.example", port: 18_000 },
  certificateFolder: "/etc/certs",
} as const;

describe("grpcBootstrapOf", () => {
  it("names the provider and the listeners as resources and the generator do", () => {
    const bootstrap = grpcBootstrapOf(options);
    expect(Object.keys(bootstrap.certificate_providers ?? {})).toEqual([instanceName]);
    expect(certificateProvider).toBe(instanceName);
    const name = bootstrap.server_listener_resource_name_template.replace("%s", "0.0.0.0:7070");
    expect(name).toBe(serverListenerName("0.0.0.0", 7070));
  });

  it("says where the server is, and whether it speaks TLS", () => {
    const serverOf = (server: Parameters<typeof grpcBootstrapOf>[0]["server"]) =>
      grpcBootstrapOf({ ...options, server }).xds_servers[0];
    expect(serverOf({ host: "::1", port: 1 })).toMatchObject({
      server_uri: "[::1]:1",
      channel_creds: [{ type: "insecure" }],
    });
    expect(serverOf({ host: "a.example", port: 443, tls: { caFile: "/ca.pem" } })).toMatchObject({
      server_uri: "a.example:443",
      channel_creds: [{ type: "tls", config: { ca_certificate_file: "/ca.pem" } }],
    });
  });
});

describe("portolan bootstrap of a gRPC program", () => {
  const pod = `
apiVersion: v1
kind: Pod
metadata: { name: echo-1, namespace: shop, labels: { app: echo }, annotations: { inject.istio.io/templates: grpc-agent } }
spec: { serviceAccountName: echo, containers: [{ name: app }] }
status: { phase: Running, podIP: 10.0.0.5 }
`;
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-bootstrap-"));
    await writeFile(join(folder, "pod.yaml"), pod);
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function run(...args: readonly string[]) {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runCli(["node", "portolan", "bootstrap", "echo-1.shop", "--dir", folder, ...args], {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
      colours: picocolors.createColors(false),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  }

  it("is gRPC's own, with the node that its class was compiled for", async () => {
    const { code, out } = await run("--server", "http://127.0.0.1:18000", "--certificate-folder", "/certs");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      xds_servers: [{ server_uri: "127.0.0.1:18000" }],
      node: { id: expect.stringContaining("~10.0.0.5~echo-1.shop~"), metadata: { GENERATOR: "grpc" } },
      certificate_providers: { default: { config: { certificate_file: "/certs/cert-chain.pem" } } },
    });
    const bare = await run("--server", "http://127.0.0.1:18000", "--certificates", "none");
    expect(JSON.parse(bare.out)).not.toHaveProperty("certificate_providers");
  });

  it("wants to be told where streams are served, and knows no token", async () => {
    expect((await run()).err).toContain("portolan dev --grpc-port");
    expect((await run("--server", "http://127.0.0.1:1", "--token-file", "/t", "--out", "/nowhere")).err).toContain(
      "gRPC programs send no token",
    );
  });
});
