import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bootstrapName, createEnvoyKeeper, type EnvoyKeeper } from "../../lib/agent/envoy/envoy-keeper.ts";
import { envoyPath, eventually } from "../e2e/envoy.ts";

let folder: string;
let keeper: EnvoyKeeper | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-arguments-"));
});
afterEach(async () => {
  keeper?.release();
  const envoy = keeper?.current();
  envoy?.kill("SIGKILL");
  await envoy?.ended;
  keeper = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function keeperOf(args: readonly string[], bootstrap: object = {}): Promise<EnvoyKeeper> {
  const admin = { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } };
  await writeFile(join(folder, bootstrapName), JSON.stringify({ admin, ...bootstrap }));
  const quiet = { onLine() {}, say() {}, onChange() {}, onEnd() {}, socket: join(folder, "xds.sock") };
  keeper = await createEnvoyKeeper({ envoy: envoyPath(), args, folder, maxRestarts: 0, ...quiet });
  return keeper;
}

const infoOf = async (one: EnvoyKeeper): Promise<string> =>
  (await (await one.current()?.admin())?.page("/server_info")) ?? "";

describe("an Envoy that an agent starts", () => {
  it.each([
    { args: ["-l", "error"] },
    { args: ["--log-level", "error", "--concurrency", "1", "--drain-time-s", "1", "--disable-hot-restart"] },
  ])(
    "takes what it is given in place of what the agent usually says: $args",
    async ({ args }) => {
      const one = await keeperOf(args);
      await one.start();
      await eventually(
        () => infoOf(one),
        (text) => text.includes('"log_level": "error"'),
        60_000,
      );
      expect(one.current()?.isRunning()).toBe(true);
    },
    90_000,
  );

  it.each([
    { args: ["--bogus"], why: /Envoy refuses the arguments after --, --bogus: .*Couldn't find match for argument/ },
    { args: ["-l", "loud"], why: /Envoy refuses the arguments after --, -l loud: .*invalid log level/ },
  ])(
    "is not started with an argument that it refuses, and says so: $args",
    async ({ args, why }) => {
      const one = await keeperOf(args);
      await expect(one.start()).rejects.toThrow(why);
    },
    60_000,
  );

  it("still refuses its bootstrap, whatever arguments it has", async () => {
    const one = await keeperOf(["-l", "error"], { nonsense: true });
    await expect(one.start()).rejects.toThrow(/Envoy refuses its bootstrap, .*nonsense/);
  }, 60_000);
});
