import { nearestName } from "../../base/nearest-name.ts";
import { error, type Finding, type Path, warning } from "../finding.ts";

/** Istio's own switches, environment variables of istiod, as far as they change what proxies are served. Absent: as Istio has it. */
export interface Switches {
  /** Endpoints that are not ready are sent, as unhealthy. */
  readonly PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS?: boolean;
  /** Deployed gateways take Istio's Gateways from their own namespace alone. */
  readonly PILOT_ENABLE_STRICT_GATEWAY_MERGING?: boolean;
  /** Kinds and versions of the Gateway API that are not stable count. */
  readonly PILOT_ENABLE_ALPHA_GATEWAY_API?: boolean;
  /** A workload may have authorizers of several providers. */
  readonly PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS?: boolean;
  /** Gateways start a span for each call that they make. */
  readonly PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY?: boolean;
  /** How many hosts a proxy keeps that were looked up for ALLOW_ANY_DYNAMIC_DNS. */
  readonly PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS?: number;
  /** What every TLS context has to comply with. */
  readonly COMPLIANCE_POLICY?: CompliancePolicy;
}

const compliancePolicies = ["fips-140-2", "fips-140-3", "pqc"] as const;

export type CompliancePolicy = (typeof compliancePolicies)[number];

interface Reading<T> {
  /** Undefined: the text is no value of the switch. */
  readonly read: (text: string) => T | undefined;
  readonly allowed: string;
}

const flag: Reading<boolean> = {
  // As Istio reads them.
  read: (text) => {
    if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
    return ["0", "f", "F", "false", "FALSE", "False"].includes(text) ? false : undefined;
  },
  allowed: "true or false",
};

const readings: { readonly [Name in keyof Switches]-?: Reading<NonNullable<Switches[Name]>> } = {
  PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: flag,
  PILOT_ENABLE_STRICT_GATEWAY_MERGING: flag,
  PILOT_ENABLE_ALPHA_GATEWAY_API: flag,
  PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: flag,
  PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: flag,
  PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS: {
    read: (text) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined),
    allowed: "a whole number from 1 to 9999999",
  },
  COMPLIANCE_POLICY: {
    read: (text) => compliancePolicies.find((policy) => policy === text),
    allowed: compliancePolicies.join(" or "),
  },
};

/** The switches that are heeded, by name. */
export const switchNames: readonly string[] = Object.keys(readings).sort();

const isSwitch = (name: string): name is keyof Switches => Object.hasOwn(readings, name);

/**
 * Reads switches as an installation has them: texts by the names of environment variables. An empty text is none.
 *
 * @returns a warning for each name that is not known, which has no effect, and an error for each value that a switch cannot have
 */
export function readSwitches(
  written: Readonly<Record<string, string | number | boolean>>,
  path: Path,
): { readonly value: Switches; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const values: [string, boolean | number | string][] = [];
  for (const [name, said] of Object.entries(written)) {
    const text = String(said);
    if (!isSwitch(name)) findings.push(unknown(name, [...path, name]));
    else if (text !== "") {
      const { read, allowed } = readings[name];
      const value = read(text);
      if (value === undefined)
        findings.push(error([...path, name], `is ${JSON.stringify(text)}`, `it may be ${allowed}`));
      else values.push([name, value]);
    }
  }
  // Each was read by the reading of its name.
  return { value: Object.fromEntries(values) as Switches, findings };
}

function unknown(name: string, path: Path): Finding {
  const meant = nearestName(name, switchNames);
  const hint = meant === undefined ? `those that are heeded: ${switchNames.join(", ")}` : `did you mean ${meant}?`;
  return warning(path, "is no switch that is heeded here, and has no effect", hint, "no-effect");
}
