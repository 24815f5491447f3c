import { signRequest } from "../../compile/webhook/signature.ts";
import { audienceOf } from "../post-signed.ts";
import type { Deployment, Server } from "./deployment.ts";
import { type Answer, exchange } from "./exchange.ts";
import { type Finding, failed, passed, skipped } from "./finding.ts";
import { refusalIn } from "./polls.ts";

export const webhookNames = ["webhook", "webhook source"] as const;
const [check, sourceCheck] = webhookNames;

/**
 * Whether the compile function takes the secret, refuses requests without it, and has the source that pushes are for. It is asked for
 * what is told to a source's objects, which changes nothing.
 */
export async function webhookChecks(deployment: Deployment): Promise<readonly Finding[]> {
  const { compile, ca, timeoutMs } = deployment;
  if (compile === undefined) return webhookNames.map((name) => skipped(name, "no --compile-url"));
  const { url, secret, source } = compile;
  const server: Server = { url, timeoutMs, ...(ca === undefined ? {} : { ca }) };
  const path = `/sources/${encodeURIComponent(source)}/statuses`;
  const signable = { method: "GET", audience: audienceOf(url.href), target: path, body: new Uint8Array() };
  const headers = await signRequest(secret, signable, crypto.randomUUID(), Date.now());
  const [bare, signed] = [await exchange(server, { path }), await exchange(server, { path, headers, maxBytes })];
  return signatureFindings(bare, signed, source);
}

/** Statuses of a source's objects. */
const maxBytes = 64 * 1024 * 1024;

function signatureFindings(bare: Answer, signed: Answer, source: string): readonly Finding[] {
  const another = (text: string, remedy: string) => [
    failed(check, text, remedy),
    skipped(sourceCheck, "webhook failed"),
  ];
  const [failure] = [bare, signed].filter((one) => one.kind === "failed");
  if (failure !== undefined) return another(failure.reason, "check --compile-url, and that the function runs");
  if (bare.kind === "failed" || signed.kind === "failed") return [];
  if (bare.status !== 401 || !isOfPortolan(bare.bytes)) {
    const text = `a request without a signature gets ${bare.status}: ${refusalIn(bare.bytes)}`;
    return another(text, "check that --compile-url is the compile function's: it refuses such a request with 401");
  }
  const said = refusalIn(signed.bytes);
  if (signed.status === 401) return another(`the signature is refused: ${said}`, signatureRemedy(said));
  const taken = passed(check, "takes this secret, and refuses requests without it");
  if (signed.status === 200) return [taken, passed(sourceCheck, `${source} may be filled`)];
  if (signed.status === 404) {
    const remedy = `add ${source} to SOURCES of the compile function (PORTOLAN_SOURCES on AWS), or name another with --source`;
    return [taken, failed(sourceCheck, `the compile function has no source ${source}: a push gets 404`, remedy)];
  }
  return [
    taken,
    failed(sourceCheck, `answers ${signed.status}: ${said}`, "see the compile function's log for the reason"),
  ];
}

const isOfPortolan = (bytes: Buffer): boolean => refusalIn(bytes) === "the request is not signed";

function signatureRemedy(said: string): string {
  if (said.includes("timestamp")) return "set this machine's clock, or the function's, by NTP";
  if (said.includes("signed for"))
    return "ask by the function's own name, or set PORTOLAN_WEBHOOK_AUDIENCE to the name that clients use";
  return "set PORTOLAN_WEBHOOK_SECRET to the compile function's";
}
