import { clockToleranceSeconds, expiryOf } from "../../front/auth/jwt.ts";
import { probeNode } from "../../front/nodes/probe-node.ts";
import { counted } from "../numbers.ts";
import { type Deployment, isHere } from "./deployment.ts";
import { type Finding, failed, passed, warned } from "./finding.ts";
import { pollRemedy, refusalIn, sendPoll } from "./polls.ts";

const check = "authentication";

/** Whether the front serves a request without a token, and takes the one that was given. @param nowMs since the epoch */
export async function authenticationCheck(deployment: Deployment, nowMs = Date.now()): Promise<readonly Finding[]> {
  const { token, node, url } = deployment;
  const poll = { type: "clusters", node: node ?? probeNode } as const;
  const bare = await sendPoll(deployment, poll, undefined);
  if (bare.kind === "failed") return [failed(check, bare.reason, "check the front's log, and --timeout")];
  if (bare.status === 503) {
    const said = refusalIn(bare.bytes);
    const isUndecided = said.includes("not configured");
    const remedy = "set AUTHENTICATION or PORTOLAN_AUTHENTICATION (docs/security.md#who-may-read)";
    return [failed(check, `answers 503: ${said}`, isUndecided ? remedy : pollRemedy(503, token))];
  }
  if (bare.status !== 401) return [openFinding(bare.status, refusalIn(bare.bytes), isHere(url), token)];
  if (token === undefined) {
    const text = "requests without a token are refused";
    return [
      node === undefined ? passed(check, text) : failed(check, `${text}, and none was given`, pollRemedy(401, token)),
    ];
  }
  const proven = await sendPoll(deployment, poll, token);
  if (proven.kind === "failed") return [failed(check, proven.reason, "check the front's log, and --timeout")];
  const isRefused = proven.status === 401 || (proven.status === 403 && node !== undefined);
  if (!isRefused) return [takenFinding(token, nowMs)];
  const text = `the token is refused with ${proven.status}: ${refusalIn(proven.bytes)}`;
  return [failed(check, text, pollRemedy(proven.status, token))];
}

/**
 * A front takes a token a little longer than it holds, since clocks differ: then Envoys are about to be refused. One that it takes longer
 * still shows that the clocks differ, which is a check of its own.
 */
function takenFinding(token: string, nowMs: number): Finding {
  const refused = "requests without a token are refused";
  const pastSeconds = Math.ceil(nowMs / 1_000) - (expiryOf(token) ?? Number.POSITIVE_INFINITY);
  const left = counted(clockToleranceSeconds - pastSeconds, "second");
  if (pastSeconds < 0 || pastSeconds >= clockToleranceSeconds)
    return passed(check, `${refused}, and this token is taken`);
  const text = `${refused}; this token has expired, and is still taken for ${left}, in case clocks differ`;
  return warned(check, text, "make another: `portolan token create`; if it is new, check this clock");
}

function openFinding(status: number, said: string, isHereOnly: boolean, token: string | undefined): Finding {
  // A poll is answered with 200, or with 404 for a node that has no class.
  if (status !== 200 && status !== 404)
    return failed(check, `a poll gets ${status}: ${said}`, pollRemedy(status, token));
  if (isHereOnly) return passed(check, "off, and only this machine can connect");
  const text = `off: every client that can connect reads the mesh${token === undefined ? "" : "; the token is ignored"}`;
  return warned(
    check,
    text,
    "set an authentication (docs/security.md#who-may-read), unless the network keeps other clients out",
  );
}
