import { PortolanError } from "../../base/diagnostic.ts";
import type { StoredResource } from "../../xds/explain/explain-resource.ts";
import type { RootObjects } from "../../xds/explain/root-object.ts";
import { counted } from "../numbers.ts";
import type { Terminal } from "../terminal.ts";

/** What a node has, and what is known of where it comes from. */
export interface NodeSource {
  /** One line that says what this is of. */
  readonly title: string;
  readonly resources: readonly StoredResource[];
  /** What came and is no message of Envoy's; only of a front, which may be anybody's. */
  readonly unread: readonly UnreadResource[];
  readonly objects: RootObjects;
  /** Of the node; "" where it is not known. */
  readonly namespace: string;
}

export interface UnreadResource extends Pick<StoredResource, "type" | "name"> {
  /** Which field, and what is wrong with it. */
  readonly why: string;
}

const maxSaid = 10;
const maxChars = 300;

/** Says what is left out of what follows. */
export function tellUnread(unread: readonly UnreadResource[], terminal: Terminal): void {
  const warning = terminal.colours.yellow("warning");
  for (const { type, name, why } of unread.slice(0, maxSaid))
    terminal.err(
      `${warning} ${type} ${JSON.stringify(name.slice(0, maxChars))} is left out: ${why.slice(0, maxChars)}`,
    );
  if (unread.length > maxSaid) terminal.err(`${warning} and ${unread.length - maxSaid} more are`);
}

/**
 * Says that what was shown is not all of it.
 *
 * @throws PortolanError where something is left out
 */
export function failOnUnread(unread: readonly UnreadResource[], from: string | undefined): void {
  if (unread.length === 0) return;
  throw new PortolanError(
    `${counted(unread.length, "resource")} of ${from ?? ""} cannot be read: is it of this version, and does a proxy in between change its answers?`,
  );
}
