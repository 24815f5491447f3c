import type { ExtensionProvider } from "../../config/kinds/extension-provider.ts";
import type { ProviderRef, TelemetryMode } from "../../config/kinds/telemetry.ts";

/** Which end of a connection a listener stands at: clients are sidecar outbound listeners and gateways. */
export type TelemetrySide = "CLIENT" | "SERVER";

/** Whether a rule of a Telemetry object is meant for a side. */
export function appliesTo(match: { readonly mode?: TelemetryMode } | undefined, side: TelemetrySide): boolean {
  const mode = match?.mode ?? "CLIENT_AND_SERVER";
  return mode === "CLIENT_AND_SERVER" || mode === side;
}

/** Names that a rule gives, in its order. */
export function providerNames(rule: { readonly providers?: readonly ProviderRef[] }): readonly string[] {
  return (rule.providers ?? []).map((provider) => provider.name);
}

/** An extension provider by name; upper and lower case are alike. */
export function findProvider(providers: readonly ExtensionProvider[], name: string): ExtensionProvider | undefined {
  const wanted = name.toLowerCase();
  return providers.find((provider) => provider.name.toLowerCase() === wanted);
}
