import { describe, expect, it } from "vitest";
import { createNameBook } from "../../../lib/agent/dns/name-book.ts";
import { dnsClient, external, kubernetes, tableOf } from "./names.ts";

const book = createNameBook(
  tableOf({
    "web.shop.svc.cluster.local": kubernetes("web", "shop", "10.0.0.1", "2001:db8::1"),
    "db.far.svc.cluster.local": kubernetes("db", "far", "10.0.0.2"),
    "other.shop.svc.else.where": kubernetes("other", "shop", "10.0.0.3"),
    "Api.example.com": external("192.0.2.1"),
    "*.any.example.com": external("192.0.2.2"),
    "*.example.com": external("192.0.2.3"),
    "nowhere.example.org": external(),
  }),
  dnsClient,
);

const ask = (name: string) => {
  const found = book.find(name);
  return found && [found.target, ...found.A, ...found.AAAA];
};

describe("the names of a table, as a workload asks for them", () => {
  it.each(["web", "web.shop", "web.shop.svc", "web.shop.svc.cluster.local"])(
    "of its own namespace are known as %s",
    (name) => {
      expect(ask(name)).toEqual([undefined, "10.0.0.1", "2001:db8::1"]);
    },
  );

  it("of another namespace are known with that, and of another domain in full alone", () => {
    expect(["db", "db.far", "db.far.svc.cluster.local"].map(ask)).toEqual([
      undefined,
      [undefined, "10.0.0.2"],
      [undefined, "10.0.0.2"],
    ]);
    expect(["other", "other.shop", "other.shop.svc.else.where"].map(ask)).toEqual([
      undefined,
      undefined,
      [undefined, "10.0.0.3"],
    ]);
  });

  it("are known with the first search domain behind them, as an alias of what they are without it", () => {
    expect(ask("api.example.com.shop.svc.cluster.local")).toEqual(["api.example.com", "192.0.2.1"]);
    expect(ask("db.far.shop.svc.cluster.local")).toEqual(["db.far", "10.0.0.2"]);
    expect(ask("x.any.example.com.shop.svc.cluster.local")).toEqual(["x.any.example.com", "192.0.2.2"]);
    expect(ask("api.example.com.svc.cluster.local")).toBeUndefined();
  });

  it("stand for all below a wildcard, the longest one first, and not for the wildcard's own end", () => {
    expect(["a.b.any.example.com", "b.example.com", "example.com"].map(ask)).toEqual([
      [undefined, "192.0.2.2"],
      [undefined, "192.0.2.3"],
      undefined,
    ]);
  });

  it("without an address, or that nobody has, are asked for elsewhere", () => {
    expect(["nowhere.example.org", "example.net", ""].map(ask)).toEqual([undefined, undefined, undefined]);
  });
});
