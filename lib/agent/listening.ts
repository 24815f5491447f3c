import type { ListenOptions, Server } from "node:net";

/**
 * Has a server listen.
 *
 * @param onError called for each error from then on, as when a connection cannot be accepted because descriptors are used up; without it
 * the process would end
 * @throws what the system says when the address cannot be had
 */
export const listening = (server: Server, where: ListenOptions, onError: (cause: unknown) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject).on("error", onError);
      resolve();
    });
  });
