import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { parseHead } from "../../snapshot/head/head.ts";
import { needSigned } from "../../snapshot/head/signatures.ts";
import type { SigningJwk } from "../../snapshot/head/signing-keys.ts";
import type { Head } from "../../snapshot/root.ts";
import type { BelievedGenerations } from "./believed-generations.ts";

/** The HEAD in the store is not followed; the message says why. */
export class UntrustedHead extends PortolanError {}

/**
 * Reads a HEAD that may be followed: signed by a trusted key, and no older than the newest that was followed, by generation. A rollback is
 * a newer one. Without trusted keys every HEAD is.
 *
 * @throws UntrustedHead
 */
export async function trustedHead(
  bytes: Uint8Array,
  trusted: readonly SigningJwk[] | undefined,
  generations: BelievedGenerations,
): Promise<Head> {
  try {
    const head = await needSigned(trusted, parseHead(bytes));
    if (trusted === undefined) return head;
    const newest = generations.newest();
    if (head.generation < newest)
      throw new PortolanError(
        `HEAD went back from generation ${newest} to ${head.generation}: an older HEAD was put back, which is not followed. ` +
          `If that was you, ${generations.remedy}`,
      );
    generations.believed(head.generation);
    return head;
  } catch (cause) {
    throw new UntrustedHead(causeText(cause), [], cause);
  }
}
