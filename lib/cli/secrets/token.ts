import { InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { createToken, type TokenGrant } from "../../front/auth/token.ts";
import type { Register } from "../terminal.ts";
import { keyringOption, readKeyring, signerFor, writePrivately } from "./keyring.ts";

interface Options {
  readonly namespace?: string;
  readonly serviceAccount?: string;
  readonly cluster?: string;
  readonly class?: readonly string[];
  readonly operator?: boolean;
  readonly v1?: boolean;
  readonly ttl: number;
  readonly subject?: string;
  readonly out?: string;
  readonly keyring: string;
  readonly json?: boolean;
}

/** `portolan token create`: lets a node, or an operator, read. */
export const registerToken: Register = (program, terminal) => {
  program
    .command("token")
    .description("Creates tokens that fronts accept.")
    .command("create")
    .description("Makes a token for the nodes of one namespace, for operators, or for the v1 API.")
    .option("--namespace <name>", "nodes of this namespace")
    .option("--service-account <name>", "nodes that run as this service account only")
    .option("--cluster <id>", "nodes in this cluster only")
    .option("--class <ids...>", "nodes of these classes only")
    .option("--operator", "an operator: statistics, refusals, and every node's resources")
    .option("--v1", "for the v1 API, as any node")
    .requiredOption("--ttl <time>", "validity: 30m, 24h, 7d", seconds)
    .option("--subject <name>", "name of the holder, for logs")
    .option("--out <file>", "write the token to this file instead of printing it, and replace the previous one")
    .option("--json", "the token as JSON")
    .addOption(keyringOption())
    .addHelpText(
      "after",
      "\nExamples:\n  portolan token create --namespace shop --service-account web --ttl 24h --out /etc/portolan/token\n  portolan token create --operator --ttl 1h",
    )
    .action(async (options: Options) => {
      const grant = grantOf(options);
      const key = signerFor(await readKeyring(options.keyring), "tokens");
      const subject =
        options.subject ?? (grant.scope === "node" ? `${grant.namespace}/${grant.serviceAccount ?? "*"}` : grant.scope);
      const token = await createToken(key, grant, { subject, nowMs: Date.now(), ttlSeconds: options.ttl });
      if (options.out === undefined) terminal.out(options.json === true ? JSON.stringify({ token }) : token);
      // Without a line's end: Envoy sends the whole file.
      else await writePrivately(options.out, token);
    });
};

function grantOf({ namespace, serviceAccount, cluster, class: classes, operator, v1 }: Options): TokenGrant {
  const chosen = [namespace !== undefined, operator === true, v1 === true].filter(Boolean).length;
  if (chosen !== 1) throw new PortolanError("choose one of --namespace, --operator and --v1");
  if (namespace === undefined) {
    if (serviceAccount !== undefined || cluster !== undefined || classes !== undefined)
      throw new PortolanError("--service-account, --cluster and --class go with --namespace");
    return { scope: operator === true ? "operator" : "v1" };
  }
  return {
    scope: "node",
    namespace,
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(cluster === undefined ? {} : { clusterId: cluster }),
    ...(classes === undefined ? {} : { classes }),
  };
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function seconds(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const total = Number(digits) * (unitSeconds[unit] ?? 0);
  if (total === 0) throw new InvalidArgumentError("a time is written 30m, 24h or 7d");
  return total;
}
