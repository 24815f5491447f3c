import type { ResourceType } from "../../snapshot/resource-type.ts";
import type { LoadedRoot } from "../../snapshot/snapshot-reader.ts";
import type { Caller } from "../auth/caller.ts";
import type { Selection } from "../delta/select-resources.ts";
import type { PollRequest } from "./poll-request.ts";

/** What a poll is answered from. */
export interface KnownAnswer {
  readonly classId: string;
  readonly selection: Selection;
}

/** Who asks for what, besides what the request says. */
interface Asker {
  readonly type: ResourceType;
  readonly caller: Caller;
}

/** What polls were answered from, by the very objects that it follows from: polls that are known again bring the same ones. */
export interface KnownAnswers {
  /** undefined when it has to be found. */
  of(request: PollRequest, asker: Asker, loaded: LoadedRoot): KnownAnswer | undefined;
  keep(request: PollRequest, asker: Asker, loaded: LoadedRoot, answer: KnownAnswer): void;
}

interface Kept extends Asker, KnownAnswer {
  readonly loaded: LoadedRoot;
}

export function createKnownAnswers(): KnownAnswers {
  const kept = new WeakMap<PollRequest, Kept>();
  return {
    of(request, { type, caller }, loaded) {
      const found = kept.get(request);
      return found?.loaded === loaded && found.type === type && found.caller === caller ? found : undefined;
    },
    keep(request, { type, caller }, loaded, { classId, selection }) {
      kept.set(request, { type, caller, loaded, classId, selection });
    },
  };
}
