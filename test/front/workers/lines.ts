import type { FromWorker, Line, ToWorker } from "../../../lib/front/workers/messages.ts";

/** Two ends of one way; what is sent arrives later, as between processes. */
export function lines(): readonly [Line<FromWorker, ToWorker>, Line<ToWorker, FromWorker>] {
  let toWorker: (message: ToWorker) => void = () => {};
  let toPrimary: (message: FromWorker) => void = () => {};
  return [
    {
      send: (message) => queueMicrotask(() => toPrimary(JSON.parse(JSON.stringify(message)))),
      listen: (hear) => {
        toWorker = hear;
      },
    },
    {
      send: (message) => queueMicrotask(() => toWorker(JSON.parse(JSON.stringify(message)))),
      listen: (hear) => {
        toPrimary = hear;
      },
    },
  ];
}
