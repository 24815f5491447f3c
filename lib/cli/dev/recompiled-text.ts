import { type Diagnostic, errorsOf, PortolanError } from "../../base/diagnostic.ts";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import { isFileOf } from "../../compile/shards/source-names.ts";
import { countOfCode } from "../../compile/telemetry/observer.ts";
import type { Canary, Share } from "../../snapshot/root.ts";
import { counted } from "../numbers.ts";
import { afterShare, isOfNone, shareText } from "../snapshots/share-options.ts";
import { printDiagnostics, proseLine, type Terminal } from "../terminal.ts";

const short = (root: string) => root.slice(0, 12);

/**
 * What came of a compile, on one line.
 *
 * @param share of the nodes that it was published for; absent: for all of them
 */
export function recompiledText(
  { kind, generation, version, pin, canary, replaced }: Recompiled,
  share?: Share,
): string {
  const whom = share === undefined ? "" : ` for ${shareText(share)}`;
  const isRecorded = share !== undefined && isOfNone(share);
  const what = isRecorded ? `records ${short(version)}` : `leads to ${short(version)}${whom}`;
  const ended = replaced === undefined ? "" : `; the canary of ${short(replaced.root)} ended with it`;
  if (kind !== "pinned") return `${kind}: generation ${generation} ${what}${ended}`;
  const who = pin === undefined || pin.by === "" ? "" : ` by ${proseLine(`${pin.by}: ${pin.why}`)}`;
  const followed = pin?.configuration === undefined ? "" : "; services and endpoints are followed";
  return `pinned${who}: ${short(version)} is recorded, and ${servedFrom(version, canary)}${followed}; see \`portolan status\``;
}

/** What a version without any class of proxies means, and what to do. */
export const noProxiesText =
  "no proxy is known, so every proxy that asks gets 404: no workload has a sidecar, and no gateway's pods are there. " +
  "Push the Deployments with their namespaces' label istio-injection: enabled, collect the cluster, or list Envoys " +
  "under proxies in portolan.yaml (docs/proxies.md)";

/** When a version that is recorded comes to be served. @param canary that runs */
export function servedFrom(version: string, canary: Canary | undefined): string {
  if (canary === undefined) return "not served until `portolan unpin`";
  if (canary.root === version) return "served to the canary's nodes alone until `portolan promote`";
  return "not served until `portolan unpin`, after `portolan promote` or `portolan abort` has ended the canary";
}

/** What comes next. What is published for nobody leaves a canary that runs as it is. */
function nextAfter({ version, canary }: Recompiled, share: Share): string {
  if (canary === undefined || shareText(canary) === shareText(share)) return afterShare(share);
  const which = canary.root === version ? "this very version" : short(canary.root);
  return `the canary of ${which} continues for ${shareText(canary)}: \`portolan promote\` gives it to all nodes, \`portolan abort\` ends it`;
}

/** What a write came to is told by itself, unless it is not served. */
export function tellIfPinned(terminal: Terminal, recompiled: Recompiled): void {
  if (recompiled.kind === "pinned") terminal.err(recompiledText(recompiled));
}

/** Tells what came of a compile: messages and what comes next on standard error, the outcome on standard output. */
export function tellRecompiled(terminal: Terminal, recompiled: Recompiled, share?: Share): void {
  printDiagnostics(terminal, recompiled.diagnostics);
  tellOutcome(terminal, recompiled, share);
}

function tellOutcome(terminal: Terminal, recompiled: Recompiled, share: Share | undefined): void {
  terminal.out(recompiledText(recompiled, share));
  if (share !== undefined) terminal.err(nextAfter(recompiled, share));
}

/**
 * The outcome of filling a source, after its messages were printed.
 *
 * @param json what is told instead, to programs
 * @throws PortolanError when something of this source is refused, after all is told
 */
export function tellFilled(
  terminal: Terminal,
  { source, share }: { readonly source: string; readonly share: Share | undefined },
  recompiled: Recompiled,
  json?: object,
): void {
  if (json !== undefined) terminal.out(JSON.stringify(json));
  else tellOutcome(terminal, recompiled, share);
  const { mended: repaired = 0, unread = [] } = recompiled;
  if (repaired > 0) terminal.err(`${repaired} blobs were missing or damaged and have been written again`);
  for (const root of unread)
    terminal.err(`root ${short(root)} could not be read: nodes switched to the new version at once, without stages`);
  const { primary = source } = recompiled;
  const isOwn = (file: string) => source === primary || isFileOf(source, file);
  const own = recompiled.diagnostics.filter(({ origin }) => isOwn(origin.file));
  const errors = errorsOf(own);
  if (errors.length === 0) return;
  throw new PortolanError(`${counted(errors.length, "error")}; ${servedInstead(own, errors)}`);
}

function servedInstead(said: readonly Diagnostic[], errors: readonly Diagnostic[]): string {
  if (errors.every(({ code }) => code === "duplicate-object")) return "of duplicate objects the later one is served";
  const kept = countOfCode(said, "last-valid-served");
  const closed = countOfCode(said, "security-closed");
  if (closed > 0) return `what ${counted(closed, "security object")} would select is closed, as reported above`;
  return kept === 0
    ? "refused objects are left out"
    : `the last valid form of ${counted(kept, "refused object")} is still served, named above`;
}
