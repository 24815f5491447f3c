import { lookupText } from "../../resolve/lookup-name.ts";
import type { Resolution } from "../../resolve/resolver.ts";
import type { DevReport } from "./dev-report.ts";

/** Says what cannot be looked up, once for each reason, and when it can be again. */
export function lookupTeller(report: DevReport): (tried: Resolution["tried"]) => void {
  const told = new Map<string, string>();
  return (tried) => {
    for (const [name, { failures, problem = "" }] of tried) {
      const reason = failures > 0 ? problem : "";
      if (reason === (told.get(name) ?? "")) continue;
      told.set(name, reason);
      report.troubled(lookupText(name), reason);
    }
  };
}
