import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { expect, it } from "vitest";
import { runCollector } from "../../lib/cli/collect/run-collector.ts";
import type { Origin } from "../../lib/registry/origin/origin.ts";
import { thing } from "../collect/fake-origin.ts";

it.each([
  { names: [], json: false, want: [] },
  {
    names: ["*.gateway.networking.k8s.io", "ServiceEntry"],
    json: false,
    want: ["absent    kubernetes: *.gateway.networking.k8s.io, ServiceEntry; checked again every minute"],
  },
  {
    names: ["ServiceEntry"],
    json: true,
    want: ['{"event":"absent","source":"kubernetes","kinds":["ServiceEntry"]}'],
  },
])("a collector says once which kinds its origin does not know: $names", async ({ names, json, want }) => {
  const store = await mkdtemp(join(tmpdir(), "portolan-absent-"));
  const lines: string[] = [];
  const tell = (line: string) => void lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const origin: Origin = {
    about: { kind: "kubernetes", cluster: "Kubernetes" },
    parts: ["all"],
    absent: () => names,
    follow: async (sink) => void sink.whole("all", [thing("a")]),
  };
  const usual = { source: "kubernetes", keyring: "", host: "127.0.0.1", staleAfter: 60, maxSize: 16 };
  await runCollector(origin, "a cluster", { ...usual, store, once: true, compile: false, json }, terminal);
  await rm(store, { recursive: true });
  expect(lines.filter((line) => line.includes("absent"))).toEqual(want);
});
