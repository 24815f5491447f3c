import { Hono } from "hono/tiny";
import type { BodyPool } from "../../limits/body-pool.ts";
import { limits } from "../../limits/limits.ts";
import { bytesOf, readBody } from "../../limits/read-body.ts";
import { type Once, problem } from "./delivery.ts";
import { judgeGithub, judgeGithubHeaders } from "./github.ts";
import { judgeGitlab, judgeGitlabHeaders } from "./gitlab.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

interface ForgeOptions {
  readonly secrets: WebhookSecrets;
  readonly sources: readonly string[];
  readonly pool: BodyPool;
  readonly once: Once;
  readonly now: () => number;
  readonly recompiled: (source: string) => Promise<Response>;
}

/**
 * `POST /github/<source>` and `POST /gitlab/<source>`: a delivery in the forge's own form, signed with the secret that the source
 * shares with that forge. It does one thing, a compile, so whoever holds the secret can neither read nor write.
 */
export function forgeHooks({ secrets, sources, pool, once, now, recompiled }: ForgeOptions): Hono {
  const app = new Hono();
  // Unlike a request of our own, a delivery can only be judged when it is read.
  const bodyLimits = { maxBytes: limits.deliveryBytes, pool };

  app.post("/github/:source", async (c) => {
    const source = c.req.param("source");
    const known = sources.includes(source) ? (secrets.github.get(source) ?? []) : [];
    const header = (name: string) => c.req.header(name);
    const early = known.length === 0 ? noSecret(source) : judgeGithubHeaders(header);
    if (early !== undefined) return problem(401, early.reason);
    const read = await readBody(c, bodyLimits);
    if (read.kind === "refused") return problem(read.status, read.reason);
    const verdict = await judgeGithub(known, header, bytesOf(read), now());
    switch (verdict.kind) {
      case "refused":
        return problem(401, verdict.reason);
      case "ping":
        return Response.json({ kind: "pong" });
      case "push":
        return once(`github ${source}`, verdict.key, () => recompiled(source));
    }
  });

  app.post("/gitlab/:source", async (c) => {
    const source = c.req.param("source");
    const known = sources.includes(source) ? (secrets.gitlab.get(source) ?? []) : [];
    const header = (name: string) => c.req.header(name);
    const early = known.length === 0 ? noSecret(source) : await judgeGitlabHeaders(known, header, now());
    if (early !== undefined) return problem(401, early.reason);
    const read = await readBody(c, bodyLimits);
    if (read.kind === "refused") return problem(read.status, read.reason);
    const verdict = await judgeGitlab(known, header, bytesOf(read));
    if (verdict.kind === "refused") return problem(401, verdict.reason);
    return once(`gitlab ${source}`, verdict.key, () => recompiled(source));
  });
  return app;
}

const noSecret = (source: string) => ({ reason: `no secret of this forge is known for a source ${source}` });
