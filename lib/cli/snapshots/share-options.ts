import { type Command, InvalidArgumentError } from "commander";
import type { Share } from "../../snapshot/root.ts";

/** Which nodes, as the command line says it. */
export interface ShareOptions {
  readonly percent?: number;
  readonly label: Readonly<Record<string, string>>;
}

export function addShareOptions(command: Command): Command {
  return command
    .option("--percent <percent>", "share of the nodes, by a hash of their ids", percentOf)
    .option("--label <key=value...>", "nodes that have all of these labels take part as well", addLabel, {});
}

/**
 * The share that the options say.
 *
 * @param example command line without `portolan`, for whoever has said none
 * @throws InvalidArgumentError without any: a canary for nobody would take the place of one that runs
 */
export function shareOf({ percent, label }: ShareOptions, example: string): Share {
  if (percent === undefined && Object.keys(label).length === 0)
    throw new InvalidArgumentError(`say for which nodes, with --percent or --label: portolan ${example}`);
  return { percent: percent ?? 0, labels: label };
}

/** Whether it takes in no node. */
export const isOfNone = ({ percent, labels }: Share): boolean => percent === 0 && Object.keys(labels).length === 0;

/** `10 %, track=canary`; `nobody`. */
export function shareText(share: Share): string {
  if (isOfNone(share)) return "nobody";
  const { percent, labels } = share;
  const chosen = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [...(percent === 0 ? [] : [`${percent} %`]), ...chosen].join(", ");
}

/** What comes next where only such a share of the nodes has something. */
export function afterShare(share: Share): string {
  const now = isOfNone(share) ? "it is not served" : "the other nodes keep what they have";
  return `${now}: \`portolan promote\` gives it to all nodes, \`portolan abort\` to none`;
}

/** @throws InvalidArgumentError, which commander tells */
export function percentOf(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 100) throw new InvalidArgumentError("a whole number, at most 100");
  return Number(text);
}

export function addLabel(text: string, labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [key = "", ...value] = text.split("=");
  if (key === "" || value.length === 0) throw new InvalidArgumentError(`a label is written key=value, not ${text}`);
  return { ...labels, [key]: value.join("=") };
}
