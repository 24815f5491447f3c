import { Hono } from "hono/tiny";
import { PortolanError } from "../../config/diagnostic.ts";
import { createBodyPool } from "../../limits/body-pool.ts";
import { limits } from "../../limits/limits.ts";
import { type Carrier, readBody } from "../../limits/read-body.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Recompiled } from "../recompile.ts";
import { writeShard } from "../source-shard.ts";
import { once, problem } from "./delivery.ts";
import { objectsApp } from "./objects.ts";
import { fillForm, readFill } from "./read-fill.ts";
import { verifySignature } from "./signature.ts";

export interface WebhookOptions {
  readonly store: ObjectStore;
  readonly recompile: (publishing?: Publishing) => Promise<Recompiled>;
  /** Shared with whoever may call; an empty one refuses everybody. */
  readonly secret: string;
  /** Sources that may be filled over HTTP. */
  readonly sources: readonly string[];
  readonly now?: () => number;
  readonly onError?: (cause: unknown) => void;
}

/**
 * The compile function over HTTP. `POST /hooks/recompile` compiles what the sources hold now; `POST /sources/<name>` with
 * `{"files": [{"file", "text"}]}` (`readFill`) fills one first; `/objects/` gives the sources' objects to `httpStore`. Every request is
 * signed, and every write good for once.
 */
export function webhookApp(options: WebhookOptions): Hono {
  const { store, secret } = options;
  const now = options.now ?? Date.now;
  const app = new Hono();
  const pool = createBodyPool(limits);

  /** Runs `act` for a genuine request that was not seen before. */
  async function onceGenuine(carrier: Carrier, act: (body: string) => Promise<Response>): Promise<Response> {
    const { headers } = carrier.req.raw;
    const read = await readBody(carrier, { maxBytes: limits.sourceBytes, pool });
    if (read.kind === "refused") return problem(read.status, read.reason);
    const body = new TextDecoder().decode(read.bytes);
    const verdict = await verifySignature(secret, (name) => headers.get(name) ?? undefined, body, now());
    if (verdict.kind === "refused") return problem(401, verdict.reason);
    return once(store, verdict.key, now(), () => act(body));
  }

  const recompiled = async (publishing?: Publishing) => Response.json(await options.recompile(publishing));

  app.post("/hooks/recompile", (c) => onceGenuine(c, () => recompiled()));

  app.post("/sources/:name", (c) =>
    onceGenuine(c, async (body) => {
      const name = c.req.param("name");
      if (!options.sources.includes(name)) return problem(404, `there is no source ${name}`);
      const fill = readFill(body);
      if (fill === undefined) return problem(422, fillForm);
      await writeShard(store, name, fill.files, { allowEmpty: fill.allowEmpty });
      return recompiled(fill.publishing);
    }),
  );

  app.route("/objects", objectsApp({ store, secret, sources: options.sources, at: "/objects", now, pool }));

  app.notFound((c) => problem(404, `there is no ${c.req.method} ${c.req.path} here`));
  app.onError((cause) => {
    options.onError?.(cause);
    if (!(cause instanceof PortolanError)) return problem(500, "an error of Portolan's own; its log has more");
    // A message with diagnostics is about what was sent, one without is about the store.
    return cause.diagnostics.length > 0
      ? Response.json({ status: 422, detail: cause.message, diagnostics: cause.diagnostics }, { status: 422 })
      : problem(503, cause.message);
  });
  return app;
}
