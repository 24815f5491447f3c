import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type IdentityState, keepIdentity } from "../../lib/agent/identity/identity-files.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { makeCertificateRequest } from "../../lib/ca/certificate-request.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { testWrapper } from "../ca/requests.ts";

const hourMs = 3_600_000;

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-outage-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Hours {
  readonly from: number;
  readonly to: number;
}

/** Hours of a clock that runs as fast as it can, with certificates of 24 hours, while the CA is away for some of them. */
async function live(hours: number, away: Hours, suspended: Hours = { from: 0, to: 0 }) {
  // Certificates have whole seconds.
  const startMs = Math.floor(Date.now() / 1_000) * 1_000;
  let nowMs = startMs;
  const now = () => nowMs;
  const stored = authorityStore(memoryStore(), testWrapper());
  const active = await makeSigner("cluster.local", startMs - hourMs);
  await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
  const ca = certificateAuthority({ stored, now, onError: (cause) => expect.unreachable(String(cause)) });
  const hourOf = (ms: number) => (ms - startMs) / hourMs;
  const renewedAt: number[] = [];
  let endsMs = 0;
  let uncoveredMs = 0;
  let attempts = 0;
  const said: string[] = [];
  /** Each change of whether renewing fails, with its hour. */
  const failing: [hour: number, isFailing: boolean][] = [];
  const onState = ({ isFailing }: IdentityState) => {
    if (failing.at(-1)?.[1] !== isFailing) failing.push([hourOf(nowMs), isFailing]);
  };
  const over = Promise.withResolvers<void>();
  const workload = { namespace: "shop", serviceAccount: "web" };
  const ask = async () => {
    attempts += 1;
    const hour = hourOf(nowMs);
    if (hour >= away.from && hour < away.to) throw new Error("connect ECONNREFUSED");
    const { csr, key } = await makeCertificateRequest();
    const answer = await ca.create({ workload, csr, validitySeconds: 0 });
    if (answer.kind === "refused") throw new Error(answer.reason);
    const [certificate = "", ...rest] = answer.chain;
    renewedAt.push(hour);
    return { certificate, key, roots: rest.at(-1) ?? "" };
  };
  const take = (secrets: ReadonlyMap<string, object>) => {
    const text = JSON.stringify(secrets.get("default"));
    const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0] ?? "";
    endsMs = Date.parse(new X509Certificate(pem.replaceAll("\\n", "\n")).validTo);
  };
  const pause = async (ms: number) => {
    // A machine that is suspended does not count the hours, and its clock shows them afterwards.
    const isSuspended = hourOf(nowMs) < suspended.to && hourOf(nowMs) >= suspended.from;
    const untilMs = isSuspended ? startMs + suspended.to * hourMs : nowMs + ms;
    uncoveredMs += Math.max(0, untilMs - Math.max(endsMs, nowMs));
    nowMs = untilMs;
    if (hourOf(nowMs) <= hours) return;
    over.resolve();
    await new Promise(() => {});
  };
  const end = await keepIdentity({
    source: { kind: "server", ask },
    folder,
    say: (line) => said.push(line),
    take,
    clock: { now, pause },
    onState,
  });
  await over.promise;
  end();
  return { renewedAt, uncoveredMs, attempts, said, failing };
}

describe("a workload whose CA is away for an hour", () => {
  it("has a good certificate all the time: it is renewed at half of its life, and soon after the CA is back", async () => {
    const { renewedAt, uncoveredMs, attempts, said, failing } = await live(30, { from: 11.5, to: 12.5 });
    expect(uncoveredMs).toBe(0);
    const [first, second = 0, third = 0, ...more] = renewedAt;
    expect([first, more]).toEqual([0, []]);
    // Asked every ten seconds, from a half of 24 hours on.
    expect(second).toBeGreaterThanOrEqual(12.5);
    expect(second).toBeLessThan(12.51);
    expect(third - second).toBeCloseTo(12, 1);
    expect(attempts).toBeGreaterThan(100);
    // What the metric says, by which the alert goes.
    expect(failing).toEqual([
      [0, false],
      [expect.closeTo(12, 1), true],
      [second, false],
    ]);
    // Once, however often it is tried.
    expect(said.filter((line) => line.includes("ECONNREFUSED"))).toEqual([
      "no new certificate: connect ECONNREFUSED; Envoy keeps the one that it has",
    ]);
    expect(said.filter((line) => line.startsWith("a new certificate, good until"))).toHaveLength(2);
  });

  it("renews it at once when its machine was suspended for most of its life", async () => {
    const { renewedAt } = await live(30, { from: 0, to: 0 }, { from: 1, to: 21 });
    expect(renewedAt[1]).toBeCloseTo(21, 1);
  });

  it("is without one only if the CA is away for longer than the rest of its certificate", async () => {
    const lasting = await live(40, { from: 1, to: 23.9 });
    expect([lasting.uncoveredMs, lasting.renewedAt.length]).toEqual([0, 3]);
    const { uncoveredMs } = await live(40, { from: 1, to: 26 });
    expect(uncoveredMs / hourMs).toBeCloseTo(2, 1);
  });
});
