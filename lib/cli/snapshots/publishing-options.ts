import { type Command, InvalidArgumentError } from "commander";
import type { Publishing } from "../../snapshot/publish.ts";
import { type AuditOptions, addAuditOptions, auditInfoOf } from "./audit-info.ts";
import { addLabel, percentOf } from "./share-options.ts";

/** For whom a compile is published, and whose word it is, as the command line says it. */
export interface PublishingOptions extends AuditOptions {
  readonly canary?: number;
  /** False for `--no-serve`. */
  readonly serve: boolean;
  readonly label: Readonly<Record<string, string>>;
}

export function addPublishingOptions(command: Command): Command {
  return addAuditOptions(
    command
      .option("--canary <percent>", "only for this share of the nodes, until `promote` or `abort`", percentOf)
      .option(
        "--label <key=value...>",
        "with --canary: nodes that have all of these labels take part as well",
        addLabel,
        {},
      )
      .option(
        "--no-serve",
        "publish it without serving it, until `promote`, or `canary NEWEST` for a part of the nodes",
      ),
  );
}

/** @throws InvalidArgumentError for options that contradict one another */
export function publishingOf({ canary, label, serve, ...auditInfo }: PublishingOptions): Publishing {
  if (canary === undefined && Object.keys(label).length > 0) throw new InvalidArgumentError("--label needs --canary");
  if (canary !== undefined && !serve) throw new InvalidArgumentError("use one of --canary and --no-serve");
  if (!serve) return { ...auditInfoOf(auditInfo), share: { percent: 0, labels: {} } };
  return { ...auditInfoOf(auditInfo), ...(canary === undefined ? {} : { share: { percent: canary, labels: label } }) };
}
