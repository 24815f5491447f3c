import { describe, expect, it } from "vitest";
import { defaultWorldOptions, worldOf } from "../../../lib/compile/world/world-of.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";

const settingsOf = (text: string) => {
  const loaded = readFiles([{ file: "portolan.yaml", text }]);
  return {
    settings: worldOf(loaded, defaultWorldOptions, noMemo).value.gatewayApi?.settings,
    problems: loaded.diagnostics.map(({ path, origin }) => `${origin.line} ${path.join(".")}`),
  };
};

describe("switches of the Gateway API in portolan.yaml", () => {
  it("stand over those that are usual", () => {
    expect(settingsOf("gatewayApi: { alphaKinds: true, classNames: [edge] }\n").settings).toEqual({
      classNames: ["edge"],
      controllerName: "istio.io/gateway-controller",
      alphaKinds: true,
      secrets: "elsewhere",
    });
  });

  it("are refused, with their place, where they are none", () => {
    const { settings, problems } = settingsOf("gatewayApi:\n  controllerName: nobody\n  secrets: here\n");
    expect(problems).toEqual(["2 gatewayApi.controllerName", "3 gatewayApi.secrets"]);
    expect(settings?.controllerName).toBe("istio.io/gateway-controller");
  });
});
