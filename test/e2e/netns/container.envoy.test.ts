import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentFlags, buildAgent } from "../../../infra/build.mjs";
import { createFileCompiler } from "../../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { program } from "../../programs.ts";
import { lacks } from "../../skip.ts";
import { envoyPath, eventually } from "../envoy.ts";
import { interceptionIn, type Network, openNetwork, type PodProgram, startIn, withoutNamespaces } from "./network.ts";

const why = withoutNamespaces();

const root = new URL("../../..", import.meta.url).pathname;
const podAddress = "10.55.0.11";

/** What a container file says of the image that it makes; what it fetches is the test's to bring. */
function readContainerFile(text: string) {
  const instructions = text
    .split("\n")
    .map((line) => /^([A-Z]+) (.*)$/.exec(line))
    .flatMap((match) => (match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const]));
  const all = (word: string) => instructions.filter(([name]) => name === word).map(([, rest]) => rest);
  const only = (word: string) => {
    const [first = "", ...more] = all(word);
    if (first === "" || more.length > 0) throw new Error(`the container file has not one ${word}`);
    return first;
  };
  const [user = "", group = ""] = only("USER").split(":");
  const entrypoint: readonly string[] = JSON.parse(only("ENTRYPOINT"));
  return { copies: all("COPY"), runs: all("RUN"), env: only("ENV"), user, group, workdir: only("WORKDIR"), entrypoint };
}

describe.skipIf(lacks(why === undefined, `Linux, root and iptables, for network namespaces: ${why}`))(
  "the agent's container",
  () => {
    let folder: string;
    let network: Network;
    let pod: string;
    let front: PodProgram;
    let file: ReturnType<typeof readContainerFile>;
    const image = () => join(folder, "image");

    /** Words that run a command in the image, in mounts of its own: this machine's system with what the container file adds. */
    const inImage = (command: readonly string[], as: readonly string[] = []) => {
      const mounts = [
        `mount --bind /usr ${image()}/usr`,
        `mount -t tmpfs none ${image()}/usr/local/bin`,
        ...[
          ["node", process.execPath],
          ["envoy", envoyPath()],
        ].flatMap(([name, from]) => [
          `touch ${image()}/usr/local/bin/${name}`,
          `mount --bind ${from} ${image()}/usr/local/bin/${name}`,
        ]),
        ...["proc", "dev"].map((name) => `mount --rbind /${name} ${image()}/${name}`),
      ];
      const start = `cd ${file.workdir} && exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin ${file.env} "$@"`;
      const script = `${mounts.join(" && ")} && exec chroot ${image()} "$@"`;
      return ["-m", "sh", "-c", script, "sh", ...as, "sh", "-c", start, "sh", ...command];
    };

    beforeAll(async () => {
      file = readContainerFile(await readFile(join(root, "infra/agent/Containerfile"), "utf8"));
      folder = await mkdtemp(join(tmpdir(), "portolan-container-"));
      execFileSync("chmod", ["755", folder]);
      for (const name of ["usr", "proc", "dev", "tmp", "etc/istio/pod"])
        await mkdir(join(image(), name), { recursive: true });
      for (const name of ["bin", "sbin", "lib", "lib64"]) {
        const found = await lstat(`/${name}`).catch(() => undefined);
        if (found?.isSymbolicLink()) await symlink(await readlink(`/${name}`), join(image(), name));
      }
      // Where Debian says which iptables is meant.
      if (existsSync("/etc/alternatives")) execFileSync("cp", ["-a", "/etc/alternatives", join(image(), "etc")]);
      await writeFile(join(image(), "etc/istio/pod/labels"), 'app="client"\n');
      execFileSync("cp", ["-r", await buildAgent(join(folder, "dist")), join(image(), "portolan")]);
      execFileSync("cp", [join(root, "infra/agent/agent.sh"), join(image(), "portolan/agent.sh")]);
      await mkdir(join(image(), file.workdir), { recursive: true });
      network = openNetwork();
      pod = network.addPod(podAddress);
      const store = fileStore(join(folder, "store"), { durable: false });
      const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
      const compile = createFileCompiler({ ...defaultWorldOptions, certificates: "none" });
      const text = await readFile(join(import.meta.dirname, "shop.yaml"), "utf8");
      await publisher.publish(compile([{ file: "shop.yaml", text }], []).value, await publisher.head());
      front = startIn(network.hub, process.execPath, [await program("server")], {
        PORTOLAN_STORE: join(folder, "store"),
        HOST: network.hubAddress,
        PORT: "8080",
        PORTOLAN_AUTHENTICATION: "off",
      });
    }, 60_000);

    afterAll(async () => {
      await front?.kill("SIGKILL");
      network?.close();
      await rm(folder, { recursive: true, force: true });
    });

    it("copies what its entry point runs, and installs what its scripts call", () => {
      expect(file.copies).toEqual(["--from=envoy /usr/local/bin/envoy /usr/local/bin/envoy", "dist/agent /portolan"]);
      expect(file.runs[0]).toMatch(/^apt-get update && apt-get install .* iptables iproute2 /);
    });

    it("intercepts as an init container does, as root", () => {
      network.run(pod, "unshare", inImage(["sh", "-c", "node /portolan/commands/index.mjs intercept | sh"]));
      expect(interceptionIn(network, pod)).toContain("PORTOLAN_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006");
    }, 60_000);

    it("starts by its entry point as its user, becomes ready, and ends with Envoy when it is told to", async () => {
      network.run(pod, "unshare", inImage(["sh", "-c", file.runs[1] ?? ""]));
      const pods = { POD_NAME: "client", POD_NAMESPACE: "shop", INSTANCE_IP: podAddress, SERVICE_ACCOUNT: "client" };
      const env = Object.entries({ ...pods, PORTOLAN_SERVER: `http://${network.hubAddress}:8080` });
      const as = ["setpriv", "--reuid", file.user, "--regid", file.group, "--clear-groups"];
      const words = ["env", ...env.map(([name, value]) => `${name}=${value}`), ...file.entrypoint, "--drain", "0"];
      const agent = startIn(pod, "unshare", inImage(words, as));
      const ask = `require("node:http").get("http://${podAddress}:15020/healthz/ready", (r) => { console.log(r.statusCode); r.pipe(process.stdout); }).on("error", (e) => console.log(e.code))`;
      await eventually(
        async () => network.run(network.hub, process.execPath, ["-e", ask]),
        (said) => said === "200\nready\n",
        30_000,
      ).catch((cause) => {
        throw new Error(`${cause}\n${agent.printed()}`);
      });
      const started = await readFile(`/proc/${agent.pid}/cmdline`, "utf8");
      expect(started.split("\0").slice(1, 1 + agentFlags.length)).toEqual(agentFlags);
      await agent.kill("SIGTERM");
      expect(agent.printed()).not.toMatch(/refuses|Error/);
      expect(network.run(network.hub, process.execPath, ["-e", ask]).trim()).toBe("ECONNREFUSED");
    }, 90_000);
  },
);
