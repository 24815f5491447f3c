import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanScript, interceptScript } from "../../../lib/agent/intercept/intercept.ts";
import { defaultIntercept } from "../../../lib/agent/intercept/intercept-options.ts";
import { bootstrapFor, proxiesIn } from "../../../lib/cli/proxy/bootstrap.ts";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { program } from "../../programs.ts";
import { lacks } from "../../skip.ts";
import { createAuthority, issueIdentity } from "../certificates.ts";
import { envoyPath, eventually } from "../envoy.ts";
import {
  asSidecar,
  interceptionIn,
  type Network,
  openNetwork,
  type PodProgram,
  startIn,
  withNetAdmin,
  withoutNamespaces,
} from "./network.ts";

const why = withoutNamespaces();

const [server, agentProgram] = [await program("server"), await program("agent")];
const pods = { client: "10.55.0.11", "reviews-v1": "10.55.0.12", "reviews-v2": "10.55.0.13" } as const;
type Pod = keyof typeof pods;
const names = ["client", "reviews-v1", "reviews-v2"] as const;
const frontPort = 8080;

/** Where what comes in is led to Envoy with its sender's address. */
const transparent: Pod = "reviews-v2";
const interceptIn = (pod: Pod) => ({ ...defaultIntercept, mode: pod === transparent ? "TPROXY" : "REDIRECT" }) as const;

const app = (name: string) =>
  `require("node:http").createServer((q, r) => r.end(q.url === "/from" ? q.socket.remoteAddress : ${JSON.stringify(name)})).listen(8080, "0.0.0.0")`;

/** Asks all the time, on a connection of its own each, and prints what comes back. */
const caller = `const http = require("node:http");
const ask = () => { const q = http.get({ host: "10.96.0.10", port: 80, agent: false, timeout: 3000, headers: { host: "reviews.shop" } },
  (r) => { let t = ""; r.on("data", (d) => { t += d; }); r.on("end", () => console.log(r.statusCode === 200 ? t : "status " + r.statusCode)); });
  q.on("timeout", () => q.destroy(new Error("timeout"))); q.on("error", (e) => console.log("failed " + (e.code || e.message))); };
setInterval(ask, 20);`;

describe.skipIf(lacks(why === undefined, `Linux, root and iptables, for network namespaces: ${why}`))(
  "two services with sidecars and agents, in network namespaces",
  () => {
    let folder: string;
    let network: Network;
    let front: PodProgram;
    let calls: PodProgram;
    const namespaces = new Map<Pod, string>();
    const agents = new Map<Pod, PodProgram>();
    const programs: PodProgram[] = [];
    let yaml: string;

    const files = (): readonly SourceFile[] => [{ file: "shop.yaml", text: yaml }];
    const compile = createFileCompiler({ ...defaultWorldOptions });
    const publish = async () => {
      const store = fileStore(join(folder, "store"), { durable: false });
      const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
      await publisher.publish(compile(files(), []).value, await publisher.head());
    };
    const inPod = (pod: Pod) => namespaces.get(pod) ?? "";
    const startFront = () =>
      startIn(network.hub, process.execPath, [server], {
        PORTOLAN_STORE: join(folder, "store"),
        HOST: network.hubAddress,
        PORT: String(frontPort),
        PORTOLAN_AUTHENTICATION: "off",
      });
    const startAgent = (pod: Pod) => {
      const own = join(folder, pod);
      const identity = join(folder, "identities", pod);
      const agent = startIn(inPod(pod), "setpriv", [
        ...[...asSidecar, ...(pod === transparent ? withNetAdmin : []), process.execPath],
        ...[agentProgram, "agent", "--bootstrap", join(own, "given.json"), "--dir", own],
        ...["--server", `http://${network.hubAddress}:${frontPort}`, "--envoy", envoyPath(), "--drain", "0"],
        ...["--certificate", join(identity, "cert.pem"), "--key", join(identity, "key.pem")],
        ...["--roots", join(folder, "identities", "root.pem"), "--", "--concurrency", "1"],
      ]);
      agents.set(pod, agent);
      return agent;
    };
    const envoyPid = async (pod: Pod): Promise<number> => {
      const { pid }: { readonly pid: number } = JSON.parse(await readFile(join(folder, pod, "envoy.pid"), "utf8"));
      return pid;
    };
    const killEnvoy = async (pod: Pod) => {
      try {
        process.kill(await envoyPid(pod), "SIGKILL");
      } catch {
        // It was never started, or has ended.
      }
    };
    const answers = () => calls.printed().trim().split("\n");
    /** Answers from now on, as many as are asked for. */
    const nextAnswers = async (count: number) => {
      const from = answers().length;
      await eventually(
        async () => answers().length,
        (length) => length >= from + count,
        30_000,
      );
      return answers().slice(from);
    };
    const comesBack = (what: string) =>
      eventually(
        async () => answers().slice(-20),
        (last) => last.length === 20 && last.every((answer) => answer.startsWith("reviews-")),
        60_000,
      ).catch((cause) => {
        throw new Error(
          `${what}: ${cause}\n${[...agents.values()].map((agent) => agent.printed().slice(-3_000)).join("\n\n")}`,
        );
      });

    const issue = (pod: Pod) => {
      const authority = join(folder, "identities", "root.pem");
      const account = pod === "client" ? "client" : "reviews";
      return issueIdentity(authority, `spiffe://cluster.local/ns/shop/sa/${account}`);
    };
    const givePod = async (pod: Pod) => {
      const from = issue(pod);
      const to = join(folder, "identities", pod);
      await mkdir(to, { recursive: true });
      for (const file of ["cert.pem", "key.pem"]) await cp(join(from, file), join(to, file));
      execFileSync("chown", ["-R", "1337:1337", to]);
    };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "portolan-netns-"));
      execFileSync("chmod", ["755", folder]);
      yaml = await readFile(join(import.meta.dirname, "shop.yaml"), "utf8");
      createAuthority(join(folder, "identities"));
      network = openNetwork();
      await publish();
      front = startFront();
      const proxies = proxiesIn(files());
      for (const pod of names) {
        namespaces.set(pod, network.addPod(pods[pod]));
        for (let i = 0; i < 2; i += 1) network.run(inPod(pod), "sh", [], interceptScript(interceptIn(pod)));
        const found = proxies.find(({ proxy }) => proxy.id === `${pod}.shop`);
        if (found === undefined) throw new Error(`no proxy ${pod}`);
        const own = join(folder, pod);
        await mkdir(own);
        const server = `http://${network.hubAddress}:${frontPort}`;
        await writeFile(
          join(own, "given.json"),
          JSON.stringify(bootstrapFor(found, server, 15_000, { certificates: "none" })),
        );
        execFileSync("chown", ["-R", "1337:1337", own]);
        await givePod(pod);
        if (pod !== "client") programs.push(startIn(inPod(pod), process.execPath, ["-e", app(pod)]));
        startAgent(pod);
      }
      calls = startIn(inPod("client"), process.execPath, ["-e", caller]);
      programs.push(calls);
    }, 60_000);

    afterAll(async () => {
      for (const agent of agents.values()) await agent.kill("SIGKILL");
      for (const pod of names) await killEnvoy(pod);
      for (const program of [...programs, front]) await program?.kill("SIGKILL");
      network?.close();
      await rm(folder, { recursive: true, force: true });
    });

    it("lead what one calls through both sidecars, with mutual TLS, and let in nobody without", async () => {
      await comesBack("the first start");
      expect(new Set(await nextAnswers(30))).toEqual(new Set(["reviews-v1"]));
      const ask = `require("node:http").get("http://10.55.0.12:8080/", () => console.log("let in")).on("error", (e) => console.log(e.code))`;
      expect(network.run(network.hub, process.execPath, ["-e", ask]).trim()).toBe("ECONNRESET");
    }, 90_000);

    it("send a part of what is called to a canary, and no call fails", async () => {
      await eventually(
        async () => agents.get("reviews-v2")?.printed() ?? "",
        (log) => log.includes("is live"),
        30_000,
      );
      yaml = yaml.replace("weight: 100", "weight: 50").replace("weight: 0 ", "weight: 50 ");
      const from = answers().length;
      await publish();
      await eventually(
        async () => answers().slice(-40),
        (last) => last.includes("reviews-v1") && last.includes("reviews-v2"),
        20_000,
      );
      expect(new Set(answers().slice(from))).toEqual(new Set(["reviews-v1", "reviews-v2"]));
    }, 60_000);

    it("show a workload who calls it where its connections are intercepted by TPROXY, and Envoy where they are not", () => {
      const ask = `require("node:http").get({ host: "10.96.0.10", port: 80, path: "/from", agent: false, headers: { host: "reviews.shop" } },
      (r) => r.pipe(process.stdout))`;
      const seen = Array.from({ length: 20 }, () => network.run(inPod("client"), process.execPath, ["-e", ask]));
      expect(new Set(seen)).toEqual(new Set([pods.client, "127.0.0.6"]));
    }, 60_000);

    it("have a new certificate without a restart", async () => {
      const before = await envoyPid("reviews-v1");
      await givePod("reviews-v1");
      await eventually(
        async () => agents.get("reviews-v1")?.printed() ?? "",
        (log) => log.includes("a new certificate, good until"),
      );
      expect(new Set(await nextAnswers(40))).toEqual(new Set(["reviews-v1", "reviews-v2"]));
      expect(await envoyPid("reviews-v1")).toBe(before);
    }, 60_000);

    it("go on when the front is killed, and when an agent is", async () => {
      const from = answers().length;
      await front.kill("SIGKILL");
      await agents.get("client")?.kill("SIGKILL");
      await nextAnswers(60);
      expect(
        answers()
          .slice(from)
          .filter((answer) => !answer.startsWith("reviews-")),
      ).toEqual([]);
    }, 60_000);

    it("come back by themselves where Envoy is killed, without the front", async () => {
      // Nobody looks after the client's Envoy now: it is for the next agent to start one.
      await killEnvoy("client");
      await nextAnswers(10);
      startAgent("client");
      await comesBack("a new agent");
      await killEnvoy("reviews-v1");
      await comesBack("an Envoy that was killed");
    }, 90_000);

    it("come back when everything is killed and started again without the front", async () => {
      for (const pod of names) {
        await agents.get(pod)?.kill("SIGKILL");
        await killEnvoy(pod);
      }
      expect((await nextAnswers(5)).some((answer) => answer.startsWith("reviews-"))).toBe(false);
      for (const pod of names) startAgent(pod);
      await comesBack("everything");
      expect(new Set(await nextAnswers(60))).toEqual(new Set(["reviews-v1", "reviews-v2"]));
      front = startFront();
      yaml = yaml.replace("weight: 50 ", "weight: 0 ").replace("weight: 50 ", "weight: 100 ");
      await publish();
      await eventually(
        async () => answers().slice(-40),
        (last) => last.every((answer) => answer === "reviews-v2"),
        30_000,
      );
    }, 120_000);

    it("are left alone when the interception is undone, also twice", () => {
      for (const pod of ["client", transparent] as const) {
        for (let i = 0; i < 2; i += 1) network.run(inPod(pod), "sh", [], cleanScript());
        expect(interceptionIn(network, inPod(pod))).toBe("");
      }
    });
  },
);
