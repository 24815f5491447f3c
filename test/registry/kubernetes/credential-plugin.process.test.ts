import { expect, it } from "vitest";
import { pluginOf } from "../../../lib/registry/kubernetes/access/connect.ts";

it("a credential plugin that ignores SIGTERM is ended after its time", async () => {
  const plugin = pluginOf(
    {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: ["-e", "process.on('SIGTERM', () => {}); setTimeout(() => {}, 20_000)"],
      env: {},
      installHint: "",
    },
    1500,
  );
  await expect(plugin(false)).rejects.toThrow("has failed");
});
