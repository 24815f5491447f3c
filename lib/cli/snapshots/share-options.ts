import { type Command, InvalidArgumentError } from "commander";
import type { Share } from "../../snapshot/root.ts";

/** Which nodes, as the command line says it. */
export interface ShareOptions {
  readonly percent: number;
  readonly label: Readonly<Record<string, string>>;
}

export function addShareOptions(command: Command): Command {
  return command
    .option("--percent <percent>", "share of the nodes, by a hash of their ids", percentOf, 0)
    .option("--label <key=value...>", "nodes that have all of these labels take part as well", addLabel, {});
}

export const shareOf = ({ percent, label }: ShareOptions): Share => ({ percent, labels: label });

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
