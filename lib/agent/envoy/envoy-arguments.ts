import { PortolanError } from "../../base/diagnostic.ts";

/** One of Envoy's arguments as it stands on the command line: its name, and its value where it has one. */
export type EnvoyArgument = readonly [name: string, ...value: readonly string[]];

/** Envoy takes each argument once, under either of these names. */
const longNames: ReadonlyMap<string, string> = new Map([
  ["-l", "--log-level"],
  ["-c", "--config-path"],
]);

const longName = (name: string): string => longNames.get(name) ?? name;

/** What the agent says itself, since it goes by it. */
const owned: ReadonlySet<string> = new Set([
  "--config-path",
  "--mode",
  "--admin-address-path",
  "--log-path",
  "--restart-epoch",
  "--base-id",
  "--base-id-path",
  "--use-dynamic-base-id",
]);

/** @throws PortolanError for an argument that the agent gives its Envoy itself */
export function refuseOwnedArguments(args: readonly string[]): void {
  const found = args.find((arg) => owned.has(longName(arg)));
  if (found === undefined) return;
  throw new PortolanError(`the agent sets Envoy's ${found} itself: remove it from the arguments after --`);
}

/** An Envoy's arguments: those that an operator gives, and of the usual ones those that the operator does not. */
export function withUsual(usual: readonly EnvoyArgument[], args: readonly string[]): readonly string[] {
  const given = new Set(args.map(longName));
  return [...usual.filter(([name]) => !given.has(longName(name))).flat(), ...args];
}
