/** The front on one machine: serves the snapshots in a folder. `PORTOLAN_STORE`, `HOST`, `PORT`, `PORTOLAN_MAX_HOLD_MS`. */
import pino from "pino";
import { frontApp } from "../lib/front/app.ts";
import { createFront } from "../lib/front/front.ts";
import { serveHttp } from "../lib/front/node-server.ts";
import { prometheusMetrics } from "../lib/front/prometheus.ts";
import { fileStore } from "../lib/storage/files.ts";

const log = pino();
const {
  PORTOLAN_STORE = ".portolan/store",
  HOST = "127.0.0.1",
  PORT = "8080",
  PORTOLAN_MAX_HOLD_MS = "25000",
} = process.env;

const front = createFront({
  store: fileStore(PORTOLAN_STORE),
  maxHoldMs: Number(PORTOLAN_MAX_HOLD_MS),
  metrics: prometheusMetrics(),
  onRefusal: (refusal) => log.warn(refusal, "a node refuses an answer"),
  onError: (cause) => log.error(cause),
});
const server = await serveHttp(frontApp(front), Number(PORT), HOST);
log.info({ url: server.url, store: PORTOLAN_STORE }, "serving");

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    front.close();
    await server.close();
  });
}
