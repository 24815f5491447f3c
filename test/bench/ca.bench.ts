/**
 * Certificates of the CA with a local key: a signing request in, a chain out, one after the other in one thread. What a CA has to bear is
 * a mesh that restarts: the aim is 2,000 in a minute on two cores.
 */
import type { Authority } from "../../lib/ca/authority.ts";
import { authorityStore } from "../../lib/ca/authority-store.ts";
import { certificateAuthority } from "../../lib/ca/certificate-authority.ts";
import { importSigner } from "../../lib/ca/import-signer.ts";
import { makeSigner } from "../../lib/ca/make-signer.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { requestFor, rsaRoot, testWrapper } from "../ca/requests.ts";
import type { BenchOptions, Row } from "./report.ts";
import { stopwatch } from "./yardstick.ts";

const aimPerMinute = 2_000;

const signers = {
  "P-256": async () => makeSigner("cluster.local", Date.now()),
  "RSA 2048, as istiod's own": async () => importSigner(await rsaRoot(), Date.now()),
} as const;

export async function caBench({ report, quick }: BenchOptions): Promise<void> {
  const count = quick ? 100 : aimPerMinute;
  const rows: Row[] = [];
  for (const [signs, make] of Object.entries(signers)) {
    for (const asks of ["P-256", "RSA 2048"] as const) rows.push(await rowOf(signs, await make(), asks, count));
  }
  report.table(`certificates, ${count} of each`, rows);
  report.line(`the aim is ${aimPerMinute} a minute; asked by as many pods, by 200 service accounts`);
}

async function rowOf(
  signs: string,
  active: Authority["active"],
  asks: "P-256" | "RSA 2048",
  count: number,
): Promise<Row> {
  const stored = authorityStore(memoryStore(), testWrapper());
  await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
  const errors: unknown[] = [];
  const ca = certificateAuthority({ stored, now: Date.now, onError: (cause) => errors.push(cause) });
  const { csr } = await requestFor(asks);
  const times: number[] = [];
  const all = stopwatch();
  for (let pod = 0; pod < count; pod += 1) {
    const one = stopwatch();
    const workload = { namespace: "shop", serviceAccount: `account-${pod % 200}`, pod: `pod-${pod}` };
    const { kind } = await ca.create({ workload, csr, validitySeconds: 0 });
    if (kind !== "created") throw new Error(`no certificate: ${String(errors)}`);
    times.push(one().ms);
  }
  const { ms } = all();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (count - 1))] ?? 0;
  return {
    "the CA's key": signs,
    "the workload's": asks,
    "ms p50": at(0.5),
    "ms p99": at(0.99),
    "a minute": Math.round((count / ms) * 60_000),
  };
}
