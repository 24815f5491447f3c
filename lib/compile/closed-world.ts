import type { Config } from "../config/config.ts";
import { type Diagnostic, identityText, PortolanError } from "../config/diagnostic.ts";
import {
  type ClosedObject,
  closedDiagnostic,
  openDiagnostic,
  type SecurityFailure,
} from "../config/fail-closed/closed-object.ts";
import type { LoadedDirectory } from "../config/folder/directory.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { sameList } from "../mesh/memo/same.ts";

/** Objects with what stands in for refused ones. */
export interface ClosedConfigs {
  readonly configs: readonly Config[];
  /** `security-closed` and `security-open`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The refused security objects of which no valid form is served: neither an earlier one nor a copy from elsewhere. */
export function closedInForce({
  configs,
  closed,
}: Pick<LoadedDirectory, "configs" | "closed">): readonly ClosedObject[] {
  if (closed.length === 0) return closed;
  const served = new Set(configs.map(({ origin }) => identityText(origin.key)));
  const byKey = new Map<string, ClosedObject>();
  for (const one of closed) {
    const { key, file, line } = one.origin;
    // Objects that cannot be read may have no name, and are told apart by their place.
    const named = key.name === "" ? `${identityText(key)} ${file}:${line}` : identityText(key);
    if (!served.has(named)) byKey.set(named, one);
  }
  return [...byKey.values()];
}

/** What a world is made from, with the security objects that fail closed, or open where the settings say so. */
export function withClosed(
  loaded: Pick<LoadedDirectory, "configs" | "closed" | "meshConfig">,
  securityFailure: SecurityFailure,
  memo: Memo,
): ClosedConfigs {
  const closed = closedInForce(loaded);
  if (closed.length === 0) return { configs: loaded.configs, diagnostics: [] };
  const { rootNamespace } = loaded.meshConfig;
  if (securityFailure === "open") {
    const diagnostics = closed.map((one) => openDiagnostic(one, rootNamespace));
    return { configs: loaded.configs, diagnostics };
  }
  const standIns = closed.flatMap(({ configs }) => configs.map((config) => inRoot(config, rootNamespace)));
  return {
    configs: sameList(memo, "objects with stand-ins", [...loaded.configs, ...standIns]),
    diagnostics: closed.map((one) => closedDiagnostic(one, rootNamespace)),
  };
}

const inRoot = (config: Config, rootNamespace: string): Config =>
  config.meta.namespace === "" ? { ...config, meta: { ...config.meta, namespace: rootNamespace } } : config;

/** @throws PortolanError where the settings want nothing published while a security object is refused and no valid form of it is known */
export function refuseClosed(securityFailure: SecurityFailure, diagnostics: readonly Diagnostic[]): void {
  const closed = diagnostics.filter(({ code }) => code === "security-closed");
  if (securityFailure !== "refuse" || closed.length === 0) return;
  throw new PortolanError(
    "nothing was published: a security object is refused, no valid form of it is known, and securityFailure is refuse",
    [...diagnostics.filter(({ severity }) => severity === "error"), ...closed],
  );
}
