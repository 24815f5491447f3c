import { signRequest } from "../../lib/compile/webhook/signature.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";

const samples = new URL("../../samples/bookshop", import.meta.url).pathname;
const target = "/sources/main";

/** The bookshop with a weight of its own, so that there is something to publish. */
export async function weightedShop(
  weight: number,
): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const files = await readFolder(samples);
  return files.map(({ file, text }) => ({ file, text: text.replace("weight: 90", `weight: ${weight}`) }));
}

/**
 * Pushes it to the compile function at an address, as the delivery of that weight.
 *
 * @returns the answer's status; 0 for none
 */
export async function pushShop(url: string, secret: string, weight: number): Promise<number> {
  const body = JSON.stringify({ files: await weightedShop(weight) });
  const request = { method: "POST", target, body: new TextEncoder().encode(body) };
  const headers = await signRequest(secret, request, `delivery-${weight}`, Date.now());
  return fetch(url + target, { method: "POST", headers: { ...headers }, body }).then(
    async (answer) => {
      await answer.text();
      return answer.status;
    },
    () => 0,
  );
}
