import picocolors from "picocolors";
import { expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { createFront } from "../../../lib/front/front.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { recordedNodes } from "../../../lib/front/nodes/node-records.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

const store = memoryStore();
const nodes = recordedNodes(store, { front: undefined, now: Date.now, everyMs: 0, limits, onError: () => {} });

/** What is said of the nodes of a front, and the exit code. */
async function told(...names: readonly string[]): Promise<readonly [code: number, text: string]> {
  const front = createFront({ store, nodes });
  const server = await serveHttp(frontApp(front), 0);
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const terminal = { out: say, err: say, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", "proxy-status", ...names, "--server", server.url], terminal);
  front.close();
  await server.close();
  return [code, lines.join("\n")];
}

it("shows which version each proxy has and which refuse one, and says when a name is nobody's", async () => {
  expect(await told()).toEqual([0, "no proxy has asked this front"]);
  nodes.has({ nodeId: "sidecar~10.0.0.1~web-1.shop~shop.svc", type: "clusters", name: "" }, "123456789abcdef", "poll");
  nodes.has({ nodeId: "sidecar~10.0.0.2~web-2.shop~shop.svc", type: "clusters", name: "" }, "fedcba987654321", "delta");
  const [code, text] = await told();
  expect(code).toBe(0);
  expect(text).toMatch(/web-1\.shop.*123456789abc\b.*poll/);
  expect(text).toMatch(/web-2\.shop.*fedcba987654\b.*delta/);
  expect((await told("web-1"))[1]).not.toContain("web-2");
  expect(await told("nope")).toEqual([1, expect.stringContaining('no proxy whose name holds "nope"')]);
});
