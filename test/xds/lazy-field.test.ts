import { describe, expect, it } from "vitest";
import { ChunkedList } from "../../lib/config/chunked-list.ts";
import { lazyFieldOf, withLazyField } from "../../lib/xds/lazy-field.ts";

describe("a message with its list apart", () => {
  const hosts = Array.from({ length: 100 }, (_, at) => ({ name: `h${at}` }));
  const around = { name: "80", virtualHosts: [] as object[], validateClusters: false };
  const elements = ChunkedList.of(hosts);
  const message = withLazyField(around, "virtualHosts", elements);

  it("reads as the message with the list where it stands", () => {
    expect(JSON.stringify(message)).toBe(JSON.stringify({ ...around, virtualHosts: hosts }));
    expect({ ...message, name: "81" }).toEqual({ ...around, name: "81", virtualHosts: hosts });
    expect(message.virtualHosts).toBe(message.virtualHosts);
  });

  it("has the list at hand for whoever asks for it, which a copy has not", () => {
    expect(lazyFieldOf(message)).toEqual({ field: "virtualHosts", elements, around });
    expect(lazyFieldOf({ ...message })).toBeUndefined();
  });
});
