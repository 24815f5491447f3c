import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { settingsFields } from "../../lib/settings/fields.ts";

const root = new URL("../..", import.meta.url).pathname;

/** What wrangler would upload. */
async function dryRun(config: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-wrangler-"));
  const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
  const args = [wrangler, "deploy", "--dry-run", "--config", config, "--outdir", folder];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: root,
      env: { ...process.env, CI: "1" },
    });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe.each([
  { config: "wrangler.toml", maxKiB: 225, bindings: ["env.SNAPSHOTS", "env.RATE_LIMIT"], secrets: ["AUTHENTICATION"] },
  {
    config: "wrangler.compile.toml",
    maxKiB: 3_000,
    bindings: ["env.SNAPSHOTS", "env.SOURCES", "env.RATE_LIMIT"],
    secrets: ["PORTOLAN_WEBHOOK_SECRET"],
  },
  {
    config: "wrangler.collect.toml",
    maxKiB: 1_640,
    bindings: ["env.SNAPSHOTS", "env.RECOMPILE", "env.KUBE_API"],
    secrets: ["PORTOLAN_KUBE_TOKEN"],
  },
])("$config", ({ config, maxKiB, bindings, secrets }) => {
  it(`would upload at most ${maxKiB} KiB, with its bindings`, async () => {
    const told = await dryRun(config);
    const [upload = "", kib = ""] = /Total Upload: ([\d.]+) KiB.*/.exec(told) ?? [];
    console.log(`${config}: ${upload}`);
    expect(Number(kib)).toBeGreaterThan(0);
    expect(Number(kib)).toBeLessThanOrEqual(maxKiB);
    for (const binding of bindings) expect(told).toContain(binding);
    // Of a field that it does not know wrangler warns, and goes on.
    expect(told).not.toMatch(/WARNING|unexpected field/i);
  }, 120_000);

  it("sets nothing but settings, and has a line of crons for each that names one", () => {
    const { vars, triggers } = unstable_readConfig({ config: join(root, config) });
    const known = settingsFields().map(({ worker }) => worker);
    expect(Object.keys(vars).filter((name) => !known.includes(name))).toEqual([]);
    if (vars.GC_CRON !== undefined) expect(triggers.crons).toContain(vars.GC_CRON);
  });

  it("says how much of its invocations is logged: of the front's, which are many, none but what it writes itself", () => {
    const { observability } = unstable_readConfig({ config: join(root, config) });
    expect(observability).toMatchObject({ enabled: true, head_sampling_rate: 1 });
    if (config === "wrangler.toml")
      expect(observability?.logs).toMatchObject({ enabled: true, invocation_logs: false });
  });

  it("declares the secrets that it is nothing without, each a secret of the settings", () => {
    const read = unstable_readConfig({ config: join(root, config) });
    expect(read.secrets).toEqual(secrets.length === 0 ? undefined : { required: secrets });
    const known = settingsFields().filter(({ isSecret }) => isSecret);
    // A secret of the webhook's has one name everywhere.
    for (const secret of secrets) expect(known.flatMap(({ worker, env }) => [worker, ...env])).toContain(secret);
  });
});
