import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { resource, worldOf } from "../snapshot/worlds.ts";

/** A class whose listener names secrets, and one whose does not. */
export function worldNaming(...names: readonly string[]): CompiledWorld {
  const world = worldOf({ web: {}, plain: { listeners: { l: "1" } } });
  const configs = names.map((name) => ({ name, sdsConfig: {} }));
  const text = JSON.stringify({ "@type": "x", name: "l", configs });
  const listeners = [[{ ...resource("listeners", "l", ""), text }]];
  const classes = world.classes.map((one) =>
    one.id === "web" ? { ...one, poll: { ...one.poll, listeners }, stream: { ...one.stream, listeners } } : one,
  );
  const keys = ["web", "pay", "gateway"].map((account) => `${account}/web.default`);
  return { ...world, classes, nodes: [...world.nodes, { keys, classId: "web" }] };
}
