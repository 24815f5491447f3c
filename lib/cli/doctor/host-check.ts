import { authoritySecret } from "../../agent/bootstrap.ts";
import { fieldsOf, listOf } from "../../base/untyped.ts";
import { bootstrapHost } from "../../front/host-guard.ts";
import type { Deployment } from "./deployment.ts";
import { type Answer, type Answered, exchange } from "./exchange.ts";
import { type Finding, failed, passed } from "./finding.ts";

const check = "host";

/**
 * Whether the names that Envoys ask by are taken. A platform finds a function by `Host`, which has to be the name in TLS; an Envoy sends
 * the name of its cluster there unless its bootstrap writes another.
 *
 * @see docs/how-platforms-behave.md
 */
export async function hostCheck(deployment: Deployment): Promise<readonly Finding[]> {
  const { url, bootstrap } = deployment;
  const ask = (host: string) => exchange(deployment, { path: "/healthz", headers: { host } });
  const own = await ask(url.host);
  if (own.kind === "failed") return [failed(check, own.reason, "check that a front runs there, and how busy it is")];
  if (ownRefusals.includes(own.status)) {
    const text = `requests for Host ${url.host} get ${own.status}`;
    return [failed(check, text, "add this name as a domain of the function, or to front.hosts of a Node front")];
  }
  if (bootstrap !== undefined) return [await bootstrapFinding(url, bootstrap, own, ask)];
  const stock = await ask(bootstrapHost);
  const byName = stock.kind === "failed" ? "no answer" : isRefused(stock, own) ? String(stock.status) : undefined;
  const text = `${url.host} is served; Host ${bootstrapHost}, a cluster's name, `;
  return [
    passed(
      check,
      byName === undefined
        ? `${text}is, too`
        : `${text}gets ${byName}: Envoys need the bootstrap that \`portolan bootstrap --server ${url.origin}\` writes`,
    ),
  ];
}

async function bootstrapFinding(
  url: URL,
  bootstrap: unknown,
  own: Answered,
  ask: (host: string) => Promise<Answer>,
): Promise<Finding> {
  const remedy = `write the bootstrap again: \`portolan bootstrap POD.NAMESPACE --server ${url.origin}\``;
  const host = authorityIn(bootstrap) ?? bootstrapHost;
  const answer = await ask(host);
  if (answer.kind === "failed") return failed(check, `requests for Host ${host}: ${answer.reason}`, remedy);
  if (isRefused(answer, own))
    return failed(check, `the bootstrap's Envoy asks for Host ${host}, and gets ${answer.status}`, remedy);
  return passed(check, `Host ${host}, which the bootstrap's Envoy asks for, is served`);
}

/** What the filter before the front's cluster writes; undefined without one. @see docs/decisions/054-authority-of-polls.md */
function authorityIn(bootstrap: unknown): string | undefined {
  const secrets = listOf(fieldsOf(fieldsOf(bootstrap).staticResources).secrets).map(fieldsOf);
  const injected = secrets.find(({ name }) => name === authoritySecret)?.genericSecret;
  const { inlineString } = fieldsOf(fieldsOf(injected).secret);
  return typeof inlineString === "string" ? inlineString : undefined;
}

/** How platforms, and a front's own guard, say that they do not know a name. */
const ownRefusals: readonly number[] = [400, 403, 409, 421, 530];

/** Where the server's own name is answered, another answer for another name comes of that name; 503 comes and goes. */
const isRefused = (answer: Answered, own: Answered): boolean => answer.status !== own.status && answer.status !== 503;
