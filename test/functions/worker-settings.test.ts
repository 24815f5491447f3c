import { afterEach, describe, expect, it, vi } from "vitest";
import collectWorker, { type Env as CollectEnv } from "../../functions/collect.worker.ts";
import compileWorker, { type Env as CompileEnv } from "../../functions/compile.worker.ts";
import { type FrontEnv, holdMsIn, workerFront } from "../../functions/worker-front.ts";
import { keptPublicationsIn } from "../../lib/compile/garbage.ts";
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

/** What a compile Worker answers to a request. */
async function compileSays(env: Partial<CompileEnv>): Promise<string> {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const request = new Request("https://compile.example/hooks/recompile", { method: "POST" });
  const all = { SNAPSHOTS: Object.create(null), PORTOLAN_WEBHOOK_SECRET: "s", ...env };
  const response = await compileWorker.fetch(request, all, {
    waitUntil() {},
    passThroughOnException() {},
    props: {},
  });
  log.mockRestore();
  return `${response.status} ${await response.text()}`;
}

const rejection = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "",
    (cause: unknown) => String(cause),
  );

/** Settings of Workers that may be one of few texts. */
const choices = settingsFields().filter(
  ({ worker, type }) =>
    worker !== "" && (type.includes("`") || type === "true or false") && worker !== "AUTHENTICATION",
);

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

  it.each([
    [undefined, 25_000],
    ["", 25_000],
    ["0", 0],
    ["40000", 40_000],
    ["3600000", 90_000],
  ])("hold polls for no longer than the platform waits for an answer: %j", (text, ms) => {
    expect(holdMsIn(text)).toBe(ms);
  });

  it.each([undefined, "", "0", "3600000"])("are taken where it is %j", async (MAX_HOLD_MS) => {
    expect(await frontSays(MAX_HOLD_MS === undefined ? {} : { MAX_HOLD_MS })).toEqual({ status: 404, log: "" });
  });
});

const collecting = { KUBE_API: "https://cluster.example", PORTOLAN_KUBE_TOKEN: "token" } as const;

describe("a collecting Worker's settings", () => {
  const env = { SNAPSHOTS: bucket, ...collecting };
  it("are told of by /readyz in the log, and by a 503 that does not say them", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const response = await collectWorker.fetch(new Request("https://collect.example/readyz"), {
      ...env,
      SOURCE: "A b",
    });
    expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining("A b")]);
    expect(error.mock.calls.flat().join("\n")).toContain("SOURCE names the source");
  });

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
    const { worldFromSettings } = await import("../../lib/compile/world/world-settings.ts");
    for (const { worker, least, most } of numbers) {
      for (const text of ["1s", String(most + 1), ...(least > 0 ? [String(least - 1)] : [])]) {
        const wrong = { [worker]: text };
        const readers = [
          () => keptPublicationsIn("GC_KEEP", worker === "GC_KEEP" ? text : undefined),
          () => readPace(wrong),
          () => worldFromSettings(wrong),
        ];
        const said = readers.map((read) => messageOf(read));
        if (worker === "MAX_HOLD_MS" || worker === "CA_MAX_HOURS") said.push((await frontSays(wrong)).log);
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

describe("a compiling Worker's settings", () => {
  it("are taken where nothing is wrong", async () => {
    expect(await compileSays({})).toContain("401 ");
    expect(await compileSays({ PREFIX: "prod/", GC_CRON: "", GC_KEEP: "7" })).toContain("401 ");
  });

  it("are refused where they are none of their words, whichever it is", async () => {
    const names = choices.map(({ worker }) => worker);
    expect(names).toEqual(expect.arrayContaining(["CERTIFICATES", "BINARY_FORMS", "LEGACY_RELEASE", "TAKE_OVER"]));
    for (const name of names) {
      const wrong = { [name]: "nonsense" };
      const reader: Readonly<Record<string, () => Promise<string>>> = {
        TAKE_OVER: () => rejection(collectWorker.scheduled({}, { SNAPSHOTS: bucket, ...collecting, ...wrong })),
        CA: async () => (await frontSays(wrong)).log,
      };
      const said = await (reader[name]?.() ?? compileSays(wrong));
      expect(said, name).toMatch(new RegExp(`${name} is \\\\?"nonsense\\\\?"; it may be `));
    }
  });

  it.each([
    [{ GC_CRON: "daily" }, "GC_CRON is"],
    [{ GC_CRON: "17 3 * * * *" }, "GC_CRON is"],
    [{ GC_KEEP: "0" }, "it is a whole number from 1 to 100000"],
    [{ SOURCES: "main,Main" }, "SOURCES names the source"],
    [{ PORTOLAN_SOURCE_SECRETS: "x" }, "PORTOLAN_SOURCE_SECRETS is not JSON"],
    [{ PORTOLAN_SIGNING_KEY: "x" }, "PORTOLAN_SIGNING_KEY holds something else"],
  ] satisfies readonly (readonly [Partial<CompileEnv>, string])[])("are refused: %j", async (wrong, message) => {
    expect(await compileSays(wrong)).toMatch(new RegExp(`^500 .*${message}`));
    await expect(
      compileWorker.scheduled({ cron: "17 3 * * *" }, { SNAPSHOTS: Object.create(null), ...wrong }),
    ).rejects.toThrow(message);
  });
});

describe("the folder in the bucket", () => {
  it.each(["/prod/", "mesh//prod"])("is refused by every Worker where it is %j", async (PREFIX) => {
    const wrong = { PREFIX };
    const said = `PREFIX is ${JSON.stringify(PREFIX)}; it is empty, or a folder of the bucket`;
    expect((await frontSays(wrong)).log).toContain(said);
    expect(await compileSays(wrong)).toContain(JSON.stringify(said).slice(1, -1));
    const env = { SNAPSHOTS: Object.create(null), ...wrong };
    expect(await rejection(collectWorker.scheduled({}, { ...env, ...collecting }))).toContain(said);
  });

  it.each(["mesh/prod/", "mesh/prod"])("is taken with a slash at its end and without one: %j", async (PREFIX) => {
    expect(await frontSays({ PREFIX })).toEqual({ status: 404, log: "" });
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
