import { describe, expect, it } from "vitest";
import type { OutboundTrafficPolicy } from "../../../lib/config/kinds/sidecar.ts";
import { dynamicDnsOf } from "../../../lib/mesh/views/dynamic-dns.ts";
import type { ProxyAnswers } from "../../../lib/mesh/views/proxies/proxy-answers.ts";
import { settingsOf } from "../plain-settings.ts";

const resolved = { mode: "ALLOW_ANY_DYNAMIC_DNS" } as const;

function of(
  metadata: Readonly<Record<string, string>>,
  outboundTrafficPolicy: OutboundTrafficPolicy = resolved,
  type: ProxyAnswers["type"] = "sidecar",
) {
  const asked: string[] = [];
  const node: Pick<ProxyAnswers, "type" | "metadata"> = {
    type,
    metadata: (key) => {
      asked.push(key);
      return metadata[key];
    },
  };
  const config = settingsOf({}, "1.32", { PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS: 7 });
  return { value: dynamicDnsOf({ config }, node, { outboundTrafficPolicy }), asked };
}

describe("how a sidecar finds hosts that no service names", () => {
  it("is by the system's resolver, and by its agent's server where that captures DNS", () => {
    expect(of({}).value).toEqual({ maxHosts: 7 });
    expect(of({ DNS_CAPTURE: "true" }).value).toEqual({ maxHosts: 7, resolver: { address: "127.0.0.1", port: 15053 } });
  });

  it.each([
    ["localhost:15953", "127.0.0.1", 15953],
    ["10.0.0.1:53", "10.0.0.1", 53],
    ["[::1]:5353", "::1", 5353],
    ["a.test:53", "127.0.0.1", 15053],
    ["10.0.0.1", "127.0.0.1", 15053],
    ["10.0.0.1:dns", "10.0.0.1", 15053],
    ["10.0.0.1:0", "10.0.0.1", 15053],
    ["10.0.0.1:99999", "10.0.0.1", 15053],
    ["::1:53", "127.0.0.1", 15053],
  ])("reads where that server listens: %s", (text, address, port) => {
    expect(of({ DNS_CAPTURE: "true", DNS_PROXY_ADDR: text }).value?.resolver).toEqual({ address, port });
  });

  it("is not asked of gateways, nor under another policy", () => {
    for (const found of [
      of({}, resolved, "router"),
      of({}, { mode: "REGISTRY_ONLY" }),
      of({}, { mode: "ALLOW_ANY" }),
    ]) {
      expect(found).toEqual({ value: undefined, asked: [] });
    }
  });
});
