import { afterEach, describe, expect, it, vi } from "vitest";
import collectWorker, { type Env as CollectEnv } from "../../functions/collect.worker.ts";
import { type FrontEnv, workerFront } from "../../functions/worker-front.ts";
import { settingsFields } from "../../lib/settings/fields.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Nothing is read of it before settings are. */
const bucket: FrontEnv["SNAPSHOTS"] = Object.create(null);

async function frontSays(env: Partial<FrontEnv>): Promise<{ readonly status: number; readonly log: string }> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const app = workerFront()({ SNAPSHOTS: bucket, AUTHENTICATION: "off", ...env });
  const { status } = await app.fetch(new Request("https://front.example/nothing"));
  return { status, log: error.mock.calls.flat().join("\n") };
}

/** Numbers among a Worker's settings, with what they may be. */
const numbers = settingsFields().flatMap(({ worker, type }) => {
  const [, least = "", most = ""] = /^(\d+) to (\d+)$/.exec(type) ?? [];
  return worker === "" || most === "" ? [] : [{ worker, least: Number(least), most: Number(most) }];
});

describe("a front Worker's settings", () => {
  it.each(["1s", "-1", "NaN", "1.5", "3600001", " 1"])(
    "are refused where MAX_HOLD_MS is %j, with what it may be",
    async (MAX_HOLD_MS) => {
      const { status, log } = await frontSays({ MAX_HOLD_MS });
      expect(status).toBe(500);
      expect(log).toBe(`MAX_HOLD_MS is ${JSON.stringify(MAX_HOLD_MS)}; it is a whole number from 0 to 3600000`);
    },
  );

  it.each([undefined, "", "0", "3600000"])("are taken where it is %j", async (MAX_HOLD_MS) => {
    expect(await frontSays(MAX_HOLD_MS === undefined ? {} : { MAX_HOLD_MS })).toEqual({ status: 404, log: "" });
  });
});

describe("a collecting Worker's settings", () => {
  const env = { SNAPSHOTS: bucket, KUBE_API: "https://cluster.example", PORTOLAN_KUBE_TOKEN: "token" } as const;
  it.each([
    [{ RUN_SECONDS: "1m" }, 'RUN_SECONDS is "1m"; it is a whole number from 1 to 900'],
    [{ RUN_SECONDS: "901" }, 'RUN_SECONDS is "901"; it is a whole number from 1 to 900'],
    [{ TAKE_OVER: "yes" }, 'TAKE_OVER is "yes"; it may be true or false'],
    [{ SOURCE: "Main cluster" }, 'SOURCE names the source "Main cluster"'],
  ] satisfies readonly (readonly [Partial<CollectEnv>, string])[])("are refused: %j", async (wrong, message) => {
    await expect(collectWorker.scheduled({}, { ...env, ...wrong })).rejects.toThrow(message);
  });
});

describe("the numbers among a Worker's settings", () => {
  it("are checked by the bounds of the settings file's schema", async () => {
    expect(numbers.map(({ worker }) => worker)).toContain("MAX_HOLD_MS");
    const { readPace } = await import("../../lib/compile/triggers/pace.ts");
    const { readSlicing } = await import("../../lib/compile/slices/slice-settings.ts");
    const { worldFromSettings } = await import("../../lib/compile/world-settings.ts");
    for (const { worker, least, most } of numbers) {
      for (const text of ["1s", String(most + 1), ...(least > 0 ? [String(least - 1)] : [])]) {
        const wrong = { [worker]: text };
        const readers = [() => readPace(wrong), () => readSlicing(wrong), () => worldFromSettings(wrong)];
        const said = readers.map((read) => messageOf(read));
        if (worker === "MAX_HOLD_MS") said.push((await frontSays(wrong)).log);
        if (worker === "RUN_SECONDS")
          said.push(
            await collectWorker.scheduled({}, { SNAPSHOTS: bucket, ...wrong }).then(
              () => "",
              (cause: unknown) => String(cause),
            ),
          );
        expect(said.join("\n"), `${worker}=${text}`).toContain(
          `${worker} is "${text}"; it is a whole number from ${least} to ${most}`,
        );
      }
    }
  });
});

function messageOf(read: () => unknown): string {
  try {
    read();
    return "";
  } catch (cause) {
    return String(cause);
  }
}
