import { authenticationCheck } from "./authentication-check.ts";
import { callChecks, callNames } from "./call-checks.ts";
import { corsCheck } from "./cors-check.ts";
import type { Deployment } from "./deployment.ts";
import { type Finding, skipped } from "./finding.ts";
import { healthChecks } from "./health-checks.ts";
import { holdCheck } from "./hold-check.ts";
import { hostCheck } from "./host-check.ts";
import { pollChecks, pollNames } from "./poll-checks.ts";
import { connectionCheck, dnsCheck } from "./reach-checks.ts";
import { tlsCheck, tlsNames } from "./tls-check.ts";
import { webhookChecks, webhookNames } from "./webhook-check.ts";

/** Checks that are made together. */
interface Family {
  readonly checks: readonly string[];
  /** Checks that these would only repeat if they had failed, or that have to pass before a token is sent. */
  readonly needs: readonly string[];
  run(deployment: Deployment): Promise<readonly Finding[]>;
}

const served = ["portolan", "head"];

/** In the order in which a request goes. */
const families: readonly Family[] = [
  { checks: ["dns"], needs: [], run: dnsCheck },
  { checks: ["connection"], needs: ["dns"], run: connectionCheck },
  { checks: tlsNames, needs: ["connection"], run: (deployment) => tlsCheck(deployment) },
  { checks: ["host"], needs: ["connection", ...tlsNames], run: hostCheck },
  { checks: [...served, "clock"], needs: ["host"], run: (deployment) => healthChecks(deployment) },
  { checks: ["cors"], needs: ["portolan"], run: corsCheck },
  { checks: ["authentication"], needs: served, run: (deployment) => authenticationCheck(deployment) },
  { checks: pollNames, needs: ["authentication"], run: pollChecks },
  { checks: ["hold"], needs: ["poll clusters"], run: holdCheck },
  { checks: callNames, needs: ["authentication"], run: callChecks },
  { checks: webhookNames, needs: [], run: webhookChecks },
];

/**
 * Checks a deployment, one check after the other. Where one has failed, those that need it are skipped: nothing is sent to a server that
 * is not what it should be.
 */
export async function* examine(deployment: Deployment): AsyncGenerator<Finding> {
  const broken = new Set<string>();
  for (const { checks, needs, run } of families) {
    const missing = needs.find((name) => broken.has(name));
    const found = missing === undefined ? await run(deployment) : [];
    const named = new Set(found.map(({ check }) => check));
    const because = missing ?? found.find(({ status }) => status === "failed")?.check ?? "";
    const unmade = checks.filter((name) => !named.has(name)).map((name) => skipped(name, `needs ${because} to pass`));
    for (const finding of [...found, ...unmade]) yield finding;
    for (const { check, status } of found) if (status === "failed") broken.add(check);
    for (const { check } of unmade) broken.add(check);
  }
}
