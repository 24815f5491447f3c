import { fieldsOf, jsonIn, listOf, numberOf, textOf } from "../../base/untyped.ts";
import { windowSeconds } from "../../compile/webhook/signature.ts";
import { problemIn } from "../problem-text.ts";
import type { Deployment } from "./deployment.ts";
import { type Answered, exchange, shownText } from "./exchange.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";

/** A front looks at HEAD once a second; one that could not for so long serves what may be old. */
const oldHeadMs = 60_000;

/** Tokens and leases bear as much as this. */
const warnedSkewMs = 30_000;

/** Whether a front answers, how old its HEAD is, and how far its clock is from this one. @param now this machine's clock */
export async function healthChecks(deployment: Deployment, now = Date.now): Promise<readonly Finding[]> {
  const sentMs = now();
  const answer = await exchange(deployment, { path: "/healthz" });
  if (answer.kind === "failed") {
    const remedy = "check that a Portolan front runs there; --timeout gives it more time";
    return [failed("portolan", `/healthz: ${answer.reason}`, remedy)];
  }
  const text = answer.bytes.toString("utf8");
  const { status, headers } = answer;
  return [...frontFindings({ status, text, location: headers.location }), clockFinding(answer, (sentMs + now()) / 2)];
}

/** What `/healthz` has answered. */
export interface HealthAnswer {
  readonly status: number;
  readonly text: string;
  readonly location: string | undefined;
}

export function frontFindings({ status, text, location }: HealthAnswer): readonly Finding[] {
  const health = fieldsOf(jsonIn(text));
  const generation = numberOf(health.generation);
  if (status === 200 && generation !== undefined && textOf(health.publication) !== "")
    return [passed("portolan", "a front of Portolan answers"), headFinding(generation, health)];
  const { detail } = problemIn(text);
  if (status === 503 && /^nothing was published/.test(detail)) {
    const remedy =
      "publish: `portolan push DIR --url COMPILE-URL`; if you have, both functions need the same bucket and prefix: see the front's log";
    return [
      passed("portolan", "a front of Portolan answers"),
      failed("head", `the store has no HEAD: ${shownText(detail)}`, remedy),
    ];
  }
  const said = `/healthz answers ${status}: ${shownText(detail)}`;
  if (status === 503) {
    const remedy =
      "push first: S3 answers 403 for a HEAD that was never written. Otherwise check bucket, prefix, permissions and the front's log";
    return [failed("portolan", said, remedy)];
  }
  if (status >= 300 && status < 400 && location !== undefined)
    return [
      failed("portolan", `it redirects to ${shownText(location)}`, "give that URL: Envoys follow no redirection"),
    ];
  if (status === 500) return [failed("portolan", said, "a setting of the front cannot be read: its log names it")];
  if (detail === "there is no GET /healthz here")
    return [failed("portolan", "this is a compile function", "give the front's URL, and this one with --compile-url")];
  return [failed("portolan", `this is no front of Portolan: ${said}`, "check the URL, and what it leads to")];
}

function headFinding(generation: number, health: Readonly<Record<string, unknown>>): Finding {
  const ageMs = numberOf(health.headAgeMs);
  const warnings = listOf(health.warnings).map((one) => shownText(String(one)));
  const text = `serves generation ${generation}`;
  const remedy = "check the front's rights to read the bucket, and its log";
  if (ageMs !== undefined && ageMs > oldHeadMs)
    return failed("head", `${text}, and has not confirmed HEAD for ${Math.round(ageMs / 1_000)} s`, remedy);
  if (ageMs !== undefined || warnings.length > 0)
    return warned("head", `${text}; ${warnings.slice(0, 3).join("; ") || "HEAD is not confirmed"}`, remedy);
  return passed("head", `${text}, and HEAD is confirmed`);
}

function clockFinding({ headers: { date } }: Answered, hereMs: number): Finding {
  const check = "clock";
  if (date === undefined) return skipped(check, "the answer has no Date header");
  const thereMs = Date.parse(date);
  if (Number.isNaN(thereMs)) return warned(check, `the Date header is ${shownText(date)}`, "check what answers there");
  // The header is of whole seconds.
  const skewMs = Math.abs(thereMs - hereMs) - 1_000;
  if (skewMs <= warnedSkewMs) return passed(check, `within ${warnedSkewMs / 1_000} s of this machine's`);
  const seconds = Math.round((thereMs - hereMs) / 1_000);
  const text = `its clock is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} this machine's`;
  const remedy = "set both clocks by NTP: tokens have times, and signed requests are refused beyond";
  return skewMs > windowSeconds * 1_000
    ? failed(check, text, `${remedy} ${windowSeconds} s`)
    : warned(check, text, `${remedy} ${windowSeconds} s`);
}
