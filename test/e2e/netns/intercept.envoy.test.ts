import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanScript, interceptScript } from "../../../lib/agent/intercept/intercept.ts";
import { defaultIntercept } from "../../../lib/agent/intercept/intercept-options.ts";
import { lacks } from "../../skip.ts";
import { eventually } from "../envoy.ts";
import {
  asSidecar,
  interceptionIn,
  type Network,
  openNetwork,
  type PodProgram,
  startIn,
  withoutNamespaces,
} from "./network.ts";

const why = withoutNamespaces();

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

/** Asks port 53 of a server, over UDP or TCP, and gives what it says. */
const asked = `
import socket
def ask(protocol, server, question="x"):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM); s.settimeout(5)
    s.connect((server, 53)); s.send(question.encode()); said = s.recv(99).decode(); s.close(); return said
`;

/** Stands for a nameserver, over UDP and TCP. @param answer what it says to a \`question\` that came over a \`protocol\`, in Python */
const answering = (address: string, port: number, answer: string) => `${asked}
import threading
def tcp():
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("${address}", ${port})); s.listen(); print("listening", flush=True)
    while True:
        c, _ = s.accept(); question = c.recv(99).decode(); protocol = "tcp"; c.send((${answer}).encode()); c.close()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("${address}", ${port}))
threading.Thread(target=tcp).start()
while True:
    data, peer = u.recvfrom(99); question = data.decode(); protocol = "udp"; u.sendto((${answer}).encode(), peer)
`;

describe.skipIf(lacks(why === undefined, `Linux, root and iptables, for network namespaces: ${why}`))(
  "what portolan intercept prints",
  () => {
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

    it("leads questions to a nameserver to the agent, whose own go there, over UDP and TCP, and others nowhere else", async () => {
      const nameserver = startIn(network.hub, python, ["-c", answering("0.0.0.0", 53, '"nameserver"')]);
      const asking = 'ask(protocol, "10.55.0.1") if question == "up" else "agent"';
      const agent = startIn(pod, "setpriv", [...asSidecar, python, "-c", answering("127.0.0.1", 15053, asking)]);
      const ask = (protocol: "udp" | "tcp", question: string, server = "10.55.0.1") =>
        network.run(pod, python, ["-c", `${asked}\nprint(ask("${protocol}", "${server}", "${question}"))`]).trim();
      const answers = () => ["udp", "tcp"].map((protocol) => ask(protocol === "udp" ? "udp" : "tcp", "x"));
      try {
        for (const program of [nameserver, agent])
          await eventually(
            async () => program.printed(),
            (text) => text.includes("listening"),
          );
        run(interceptScript({ ...defaultIntercept, captureDns: ["10.55.0.1", "fd55::1"] }));
        expect(answers()).toEqual(["agent", "agent"]);
        expect([ask("udp", "up"), ask("tcp", "up")]).toEqual(["nameserver", "nameserver"]);
        run(interceptScript({ ...defaultIntercept, captureDns: ["10.55.0.99"] }));
        // TCP to other nameservers goes to Envoy, as all TCP does.
        expect(ask("udp", "x")).toBe("nameserver");
        run(interceptScript({ ...defaultIntercept, captureDns: ["*"] }));
        expect([ask("udp", "x", "10.55.0.99"), ask("tcp", "x", "10.55.0.99")]).toEqual(["agent", "agent"]);
        run(interceptScript(defaultIntercept));
        expect(ask("udp", "x")).toBe("nameserver");
        run(cleanScript());
        expect(interceptionIn(network, pod)).toBe("");
        expect(answers()).toEqual(["nameserver", "nameserver"]);
      } finally {
        await nameserver.kill("SIGKILL");
        await agent.kill("SIGKILL");
      }
    }, 60_000);
  },
);

it("refuses a nameserver that would be a word of the script", () => {
  expect(() => interceptScript({ ...defaultIntercept, captureDns: ["1.1.1.1; reboot"] })).toThrow(
    "is no address of a nameserver",
  );
});
