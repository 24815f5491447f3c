import type { Deployment } from "./deployment.ts";
import { exchange, shownText } from "./exchange.ts";
import { type Finding, failed, passed } from "./finding.ts";
import { pollPath } from "./polls.ts";

const origin = "https://page.invalid";

/** Whether a page of another site can read answers through its visitor's browser. A front allows no origin. */
export async function corsCheck(deployment: Deployment): Promise<readonly Finding[]> {
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  };
  const asked = [
    { path: "/healthz", headers: { origin } },
    { method: "OPTIONS", path: pollPath("clusters"), headers: { origin, ...preflight } },
  ] as const;
  for (const ask of asked) {
    const answer = await exchange(deployment, ask);
    if (answer.kind === "failed")
      return [failed("cors", `${ask.path}: ${answer.reason}`, "ask again; check the front's log")];
    const allowed = answer.headers["access-control-allow-origin"];
    if (allowed !== "*" && allowed !== origin && allowed !== "null") continue;
    const text = `${ask.path} allows pages of any site (Access-Control-Allow-Origin: ${shownText(allowed)})`;
    return [
      failed("cors", text, "remove that header where it is added: a front sends none, so a proxy before it does"),
    ];
  }
  return [passed("cors", "no page of another site may read answers")];
}
