import { Resolver } from "node:dns/promises";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { bootstrapFor, proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { type AgentProcess, clearAgent, startAgent } from "./agent-process.ts";
import { openBookshop } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually } from "./envoy.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const captured = "defaultConfig: { proxyMetadata: { ISTIO_META_DNS_CAPTURE: 'true' } }\n";

const entry = (address: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: printer, namespace: bookshop }
spec:
  hosts: [printer.example.com]
  addresses: [${address}]
  ports: [{ number: 9100, name: tcp, protocol: TCP }]
  resolution: STATIC
  endpoints: [{ address: 127.0.0.1 }]
`;

/** The address of a name, as a resolver has it from the agent. */
function askerOf(agent: AgentProcess): () => Promise<string> {
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  return async () => {
    const port = /answers DNS on port (\d+)/.exec(agent.log())?.[1];
    if (port === undefined) return "no port yet";
    resolver.setServers([`127.0.0.1:${port}`]);
    return resolver.resolve4("printer.example.com").then(String, String);
  };
}

it("an agent answers DNS from the names that its front serves, and from the last ones where there is no front", async () => {
  const shop = await openBookshop();
  ends.push(shop.close);
  await shop.add("mesh.yaml", captured);
  await shop.add("printer.yaml", entry("192.0.2.1"));
  const dev = await startDev(shop.folder, ["--certificates", "none"]);
  ends.push(dev.stop);
  const gateway = proxiesIn(await readFolder(shop.folder)).find(({ proxy }) => proxy.type === "router");
  if (gateway === undefined) throw new Error("the bookshop has a gateway");
  const bootstrap = bootstrapFor(gateway, dev.url, 0, { certificates: "none" });
  const resolvConf = join(shop.folder, "resolv.conf");
  // Nobody answers there.
  await writeFile(resolvConf, "nameserver 127.0.0.1#9\nsearch bookshop.svc.cluster.local\n");
  const args = ["--dns-port", "0", "--resolv-conf", resolvConf, "--server"];
  const agent = await startAgent({ bootstrap, args: [...args, dev.url] });
  ends.push(() => clearAgent(agent.folder));
  const answers = (ask: () => Promise<string>, wanted: string) => eventually(ask, (text) => text === wanted, 30_000);
  await answers(askerOf(agent), "192.0.2.1");
  await shop.edit("printer.yaml", () => entry("192.0.2.2"));
  await answers(askerOf(agent), "192.0.2.2");
  await agent.end("SIGTERM");
  const alone = await startAgent({ bootstrap, folder: agent.folder, args: [...args, "http://127.0.0.1:9"] });
  await answers(askerOf(alone), "192.0.2.2");
  expect(await alone.end("SIGTERM")).toBe(0);
}, 180_000);
