import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";

async function run(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(["node", "portolan", "bootstrap-v1", ...args], {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    colours: picocolors.createColors(false),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

describe("portolan bootstrap-v1", () => {
  it("points the four discovery services of an Envoy at the front", async () => {
    const { code, out } = await run("--server", "http://front.example:8080", "--admin-port", "9901");
    const hosts = [{ url: "tcp://front.example:8080" }];
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      lds: { cluster: "lds" },
      admin: { address: "tcp://127.0.0.1:9901" },
      cluster_manager: {
        clusters: [
          { name: "rds", hosts },
          { name: "lds", hosts },
        ],
        sds: { cluster: { name: "sds", hosts } },
        cds: { cluster: { name: "cds", hosts } },
      },
    });
  });

  it("refuses a front that speaks TLS, which that release cannot ask", async () => {
    const { code, err } = await run("--server", "https://front.example");
    expect(code).toBe(2);
    expect(err).toContain("--server wants a URL such as http://127.0.0.1:8080, not https://front.example");
  });
});
