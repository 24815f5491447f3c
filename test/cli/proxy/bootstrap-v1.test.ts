import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";

async function run(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(["node", "portolan", "bootstrap-v1", ...args], {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    colours: picocolors.createColors(false),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

describe("portolan bootstrap-v1", () => {
  it("points the four discovery services of an Envoy at the front", async () => {
    const { code, out } = await run("--server", "http://front.example:8080", "--admin-port", "9901");
    const hosts = [{ url: "tcp://front.example:8080" }];
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      lds: { cluster: "lds" },
      admin: { address: "tcp://127.0.0.1:9901" },
      cluster_manager: {
        clusters: [
          { name: "rds", hosts },
          { name: "lds", hosts },
        ],
        sds: { cluster: { name: "sds", hosts } },
        cds: { cluster: { name: "cds", hosts } },
      },
    });
  });

  it("puts a listener on loopback before a front that speaks TLS, which writes the front's name", async () => {
    const { code, out } = await run(
      ...["--server", "https://front.example", "--ca", "/etc/ca.pem", "--loopback-port", "15999"],
      ...["--certificate", "/etc/proxy.pem", "--key", "/etc/proxy-key.pem"],
    );
    const hosts = [{ url: "tcp://127.0.0.1:15999" }];
    expect(code).toBe(0);
    const route = { prefix: "/v1/", cluster: "portolan", host_rewrite: "front.example" };
    expect(JSON.parse(out)).toMatchObject({
      listeners: [
        {
          address: "tcp://127.0.0.1:15999",
          filters: [{ config: { route_config: { virtual_hosts: [{ domains: ["*"], routes: [route] }] } } }],
        },
      ],
      cluster_manager: {
        clusters: [
          { name: "rds", hosts },
          { name: "lds", hosts },
          {
            name: "portolan",
            hosts: [{ url: "tcp://front.example:443" }],
            ssl_context: {
              ca_cert_file: "/etc/ca.pem",
              cert_chain_file: "/etc/proxy.pem",
              private_key_file: "/etc/proxy-key.pem",
              verify_subject_alt_name: ["front.example"],
              sni: "front.example",
            },
          },
        ],
        sds: { cluster: { name: "sds", hosts } },
        cds: { cluster: { name: "cds", hosts } },
      },
    });
  });

  it("has no listener, and no other cluster, for a front without TLS", async () => {
    const { listeners, cluster_manager } = JSON.parse((await run("--server", "http://front.example")).out);
    expect([listeners, cluster_manager.clusters.map(({ name }: { name: string }) => name)]).toEqual([
      [],
      ["rds", "lds"],
    ]);
  });

  it.each([
    [["--server", "https://10.0.0.1"], 2, "write the front's DNS name instead of 10.0.0.1"],
    [["--server", "https://[::1]:8443"], 2, "write the front's DNS name instead of [::1]"],
    [["--server", "localhost:8080"], 2, "--server needs a URL of http or https"],
    [["--token-file", "token"], 1, "--token-file needs --server with https"],
    [["--server", "https://front.example", "--key", "k"], 1, "--certificate and --key must be used together"],
    [
      ["--server", "https://front.example", "--token-file", "/nowhere/token"],
      1,
      "cannot read the token /nowhere/token",
    ],
  ])("says what is wrong with %j", async (args, wantCode, message) => {
    const { code, err } = await run(...args);
    expect([code, err]).toEqual([wantCode, expect.stringContaining(message)]);
  });
});
