import { describe, expect, it } from "vitest";
import { readSwitches } from "../../../lib/config/compat/switches.ts";

describe("readSwitches", () => {
  it("reads flags in all spellings that Istio takes, numbers and words", () => {
    const written = {
      PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: "F",
      PILOT_ENABLE_STRICT_GATEWAY_MERGING: true,
      PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS: 512,
      COMPLIANCE_POLICY: "fips-140-3",
      PILOT_ENABLE_ALPHA_GATEWAY_API: "",
    };
    expect(readSwitches(written, [])).toEqual({
      value: {
        PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: false,
        PILOT_ENABLE_STRICT_GATEWAY_MERGING: true,
        PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS: 512,
        COMPLIANCE_POLICY: "fips-140-3",
      },
      findings: [],
    });
  });

  it("names a switch that it does not know, and the one that was meant", () => {
    const { value, findings } = readSwitches({ PILOT_AUTO_SEND_UNHEALTHY_ENDPOINT: "false" }, ["compat", "switches"]);
    expect(value).toEqual({});
    expect(findings).toMatchObject([
      {
        severity: "warning",
        path: ["compat", "switches", "PILOT_AUTO_SEND_UNHEALTHY_ENDPOINT"],
        hint: "did you mean PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS?",
      },
    ]);
  });

  it("refuses values that a switch cannot have", () => {
    const written = {
      PILOT_ENABLE_STRICT_GATEWAY_MERGING: "off",
      PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS: "0",
      COMPLIANCE_POLICY: "fips-140-1",
    };
    const { value, findings } = readSwitches(written, []);
    expect(value).toEqual({});
    expect(findings.map(({ severity, hint }) => [severity, hint])).toEqual([
      ["error", "it may be true or false"],
      ["error", "it may be a whole number from 1 to 9999999"],
      ["error", "it may be fips-140-2 or fips-140-3 or pqc"],
    ]);
  });
});
