import { type Diagnostic, errorsOf, identityText, PortolanError } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import {
  type ClosedObject,
  closedDiagnostic,
  openDiagnostic,
  type SecurityFailure,
} from "../../config/fail-closed/closed-object.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";

/** Objects with what stands in for refused ones. */
export interface ClosedConfigs {
  readonly configs: readonly Config[];
  /** `security-closed` and `security-open`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The refused security objects of which no valid form is served: neither an earlier one nor a copy from elsewhere. */
export const closedInForce = (loaded: Pick<LoadedDirectory, "configs" | "closed" | "meshConfig">) =>
  loaded.closed.length === 0 ? loaded.closed : closedIn(loaded).filter(isUnserved(loaded.configs));

/** Those that close something in this mesh. */
function closedIn({ closed, meshConfig }: Pick<LoadedDirectory, "closed" | "meshConfig">): readonly ClosedObject[] {
  const isRegistryMesh = meshConfig.outboundTrafficPolicy.mode === "REGISTRY_ONLY";
  return isRegistryMesh ? closed : closed.filter(({ onlyInRegistryMesh = false }) => !onlyInRegistryMesh);
}

function isUnserved(configs: readonly Config[]): (one: ClosedObject) => boolean {
  const served = new Set(configs.map(({ origin }) => identityText(origin.key)));
  return ({ origin }) => !served.has(identityText(origin.key));
}

/** What a world is made from, with the security objects that fail closed, or open where the settings say so. */
export function withClosed(
  loaded: Pick<LoadedDirectory, "configs" | "closed" | "meshConfig">,
  securityFailure: SecurityFailure,
  memo: Memo,
): ClosedConfigs {
  const { configs, meshConfig } = loaded;
  if (loaded.closed.length === 0) return { configs, diagnostics: [] };
  const { rootNamespace } = meshConfig;
  const isClosed = isUnserved(configs);
  const all = closedIn(loaded);
  const closed = all.filter(isClosed);
  if (securityFailure === "open")
    return { configs, diagnostics: closed.map((one) => openDiagnostic(one, rootNamespace)) };
  const names = new Set<string>();
  const standIns = all.flatMap((one) =>
    (isClosed(one) ? one.configs : one.beside).map((config) => placed(config, rootNamespace, names)),
  );
  return {
    configs: standIns.length === 0 ? configs : keepList(memo, "objects with stand-ins", [...configs, ...standIns]),
    diagnostics: closed.map((one) => closedDiagnostic(one, rootNamespace)),
  };
}

/** A stand-in in its namespace. Of one object there may be several refused copies, and no two stand-ins may share a name. */
function placed(config: Config, rootNamespace: string, names: Set<string>): Config {
  const { meta, origin } = config;
  const namespace = meta.namespace || rootNamespace;
  const text = `${meta.kind}/${namespace}/${meta.name}`;
  const name = names.has(text) || meta.name === "" ? `${meta.name}:${origin.file}:${origin.line}` : meta.name;
  names.add(text);
  return name === meta.name && namespace === meta.namespace
    ? config
    : { ...config, meta: { ...meta, name, namespace } };
}

/** @throws PortolanError where the settings want nothing published while a security object is refused and no valid form of it is known */
export function refuseClosed(securityFailure: SecurityFailure, diagnostics: readonly Diagnostic[]): void {
  const closed = diagnostics.filter(({ code }) => code === "security-closed");
  if (securityFailure !== "refuse" || closed.length === 0) return;
  throw new PortolanError(
    "nothing was published: a security object is refused, no valid form of it is known, and securityFailure is refuse",
    [...errorsOf(diagnostics), ...closed],
  );
}
