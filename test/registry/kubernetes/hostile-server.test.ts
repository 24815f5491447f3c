import { describe, expect, it } from "vitest";
import { kubernetesOrigin } from "../../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { service } from "../objects.ts";
import { FakeApiServer, hurry } from "./fake-api-server.ts";
import { HeldOrigin } from "./held-origin.ts";

/** Answers instead of the server's own about services; undefined for its own. */
type Instead = (url: URL) => Response | undefined;

/** An origin over a server whose answers about services are as a test says, and how long it paused. */
function against(server: FakeApiServer, instead: Instead) {
  const waits: number[] = [];
  const pace = {
    pause: async (ms: number, signal: AbortSignal) => {
      waits.push(ms);
      await hurry.pause(ms, signal);
    },
    backOff: (failures: number) => failures,
  };
  const client = server.client();
  const fetch: typeof client.fetch = async (url, init) => {
    const asked = new URL(url);
    return (asked.pathname === "/api/v1/services" ? instead(asked) : undefined) ?? client.fetch(url, init);
  };
  const origin = new HeldOrigin(kubernetesOrigin({ ...client, fetch }, { cluster: "Kubernetes", pace, now: () => 0 }));
  return { origin, waits };
}

const busy = (seconds: string) =>
  new Response('{"message":"busy"}', { status: 429, headers: { "retry-after": seconds } });

describe("a server that asks for patience", () => {
  it.each(["86400", "3000000", "Infinity"])("is asked again after half a minute when it says %s s", async (seconds) => {
    for (const streams of [true, false]) {
      const server = new FakeApiServer();
      server.streams = streams;
      server.put(service("shop/a"));
      let isBusy = true;
      const { origin, waits } = against(server, (url) =>
        isBusy && url.searchParams.has("watch") === streams ? busy(seconds) : undefined,
      );
      await origin.until((one) => one.failures.get("Service")?.includes("429") === true);
      expect(waits).toContain(30_000);
      // As long as it takes to look again for a kind that is not there.
      expect(Math.max(...waits)).toBe(60_000);
      isBusy = false;
      await origin.until((one) => one.isWhole());
      expect(origin.failures.size).toBe(0);
      await origin.end();
    }
  });
});
