import type { PortolanError } from "../base/diagnostic.ts";
import { NewerFormat } from "../snapshot/format.ts";

/** What whoever asks may know of a store that fails: of its own errors nothing, but that the front is older than what lies there. */
export const whyUnread = (cause: PortolanError): string =>
  cause instanceof NewerFormat ? cause.message : "the store cannot be read";
