import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanScript, interceptScript } from "../../../lib/agent/intercept/intercept.ts";
import { defaultIntercept } from "../../../lib/agent/intercept/intercept-options.ts";
import { eventually } from "../envoy.ts";
import { interceptionIn, type Network, openNetwork, type PodProgram, startIn, withoutNamespaces } from "./network.ts";

const why = withoutNamespaces();
if (why !== undefined)
  console.warn(`SKIPPED: interception in network namespaces (${why}); it wants Linux, root and iptables`);

const python = new URL("../../../.venv/bin/python", import.meta.url).pathname;
const addresses = { IPv4: "10.55.0.21", IPv6: "fd55::21" } as const;

/** Stands for Envoy: takes what comes on 15006, transparently, and says from whom, and to which port as far as it is told. */
const listener = `
import socket, threading
def serve(family, level, option, address):
    s = socket.socket(family); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.setsockopt(level, option, 1)
    if family == socket.AF_INET6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind((address, 15006)); s.listen(); print("listening", flush=True)
    while True:
        c, peer = s.accept(); c.sendall(("from %s to port %d" % (peer[0], c.getsockname()[1])).encode()); c.close()
threading.Thread(target=serve, args=(socket.AF_INET, 0, 19, "0.0.0.0")).start()
serve(socket.AF_INET6, 41, 75, "::")
`;

describe.skipIf(why !== undefined)("what portolan intercept prints", () => {
  let network: Network;
  let pod: string;
  let envoy: PodProgram;

  beforeAll(async () => {
    network = openNetwork();
    pod = network.addPod(addresses.IPv4);
    network.run(network.hub, "ip", ["addr", "add", "fd55::1/64", "dev", "br0", "nodad"]);
    network.run(pod, "ip", ["addr", "add", `${addresses.IPv6}/64`, "dev", "eth0", "nodad"]);
    envoy = startIn(pod, python, ["-c", listener]);
    await eventually(
      async () => envoy.printed(),
      (text) => text.split("listening").length === 3,
    );
  }, 60_000);

  afterAll(async () => {
    await envoy?.kill("SIGKILL");
    network?.close();
  });

  const call = (family: keyof typeof addresses, port: number) => {
    const ask = `require("node:net").connect(${port}, "${addresses[family]}").on("error", (e) => console.log(e.code)).pipe(process.stdout)`;
    return network.run(network.hub, process.execPath, ["-e", ask]).trim();
  };
  const run = (script: string) => network.run(pod, "sh", [], script);

  it.each([
    ["REDIRECT", 15_006],
    ["TPROXY", 8080],
  ] as const)(
    "leads what comes in to Envoy by %s over IPv4 and IPv6, also run twice, and is undone",
    async (mode, port) => {
      for (const family of ["IPv4", "IPv6"] as const)
        await eventually(
          async () => call(family, 8080),
          (said) => said === "ECONNREFUSED",
        );
      run(interceptScript({ ...defaultIntercept, mode }));
      const once = interceptionIn(network, pod);
      run(interceptScript({ ...defaultIntercept, mode }));
      expect(interceptionIn(network, pod)).toBe(once);
      expect([call("IPv4", 8080), call("IPv6", 8080)]).toEqual([
        `from 10.55.0.1 to port ${port}`,
        `from fd55::1 to port ${port}`,
      ]);
      expect([call("IPv4", 15_020), call("IPv6", 15_020)]).toEqual(["ECONNREFUSED", "ECONNREFUSED"]);
      run(cleanScript());
      run(cleanScript());
      expect(interceptionIn(network, pod)).toBe("");
      expect([call("IPv4", 8080), call("IPv6", 8080)]).toEqual(["ECONNREFUSED", "ECONNREFUSED"]);
    },
    60_000,
  );

  it("leaves nothing of the one way when the other is chosen", () => {
    run(interceptScript({ ...defaultIntercept, mode: "REDIRECT" }));
    const redirect = interceptionIn(network, pod);
    run(interceptScript({ ...defaultIntercept, mode: "TPROXY" }));
    run(interceptScript({ ...defaultIntercept, mode: "REDIRECT" }));
    expect(interceptionIn(network, pod)).toBe(redirect);
    run(cleanScript());
  }, 60_000);
});
