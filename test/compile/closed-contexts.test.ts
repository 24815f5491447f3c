import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { edgeAndWeb, luaFilter } from "./edge-and-web.ts";

/** The types of proxies that deny every request, and what is said of it. */
function closedBy(context: string) {
  const { value, diagnostics } = createFileCompiler(defaultWorldOptions)(
    [
      { file: "world.yaml", text: edgeAndWeb },
      { file: "filter.yaml", text: luaFilter(context) },
    ],
    [],
  );
  const denying = value.nodes.flatMap(({ classId, keys }) => {
    const listeners = value.classes.find(({ id }) => id === classId)?.stream.listeners ?? [];
    const text = listeners.flatMap((part) => part.map((resource) => resource.text)).join("\n");
    return text.includes("closed:EnvoyFilter:guard") ? [keys[0]] : [];
  });
  const message = diagnostics.find(({ code }) => code === "security-closed")?.message ?? "";
  return { denying: denying.sort(), said: /requests to .*/.exec(message)?.[0] };
}

describe("a refused EnvoyFilter", () => {
  it.each([
    ["GATEWAY", ["edge.shop"], "requests to all gateways of namespace shop are denied"],
    ["SIDECAR_INBOUND", ["web.shop"], "requests to all sidecars of namespace shop are denied"],
    ["ANY", ["edge.shop", "web.shop"], "requests to all workloads of namespace shop are denied"],
    ["GATEWY", ["edge.shop", "web.shop"], "requests to all workloads of namespace shop are denied"],
  ])("of the context %s closes the proxies that it was for", (context, denying, said) => {
    expect(closedBy(context)).toEqual({ denying, said });
  });
});
