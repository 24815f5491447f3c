import { PortolanError } from "../../../base/diagnostic.ts";

/** A repository could not be fetched: the source is as it was, and the delivery can be sent again. */
export class FetchFailure extends PortolanError {
  /** 422: the repository's content is refused; 502 and 504: its host fails; 503: a later attempt may succeed. */
  readonly status: 422 | 502 | 503 | 504;

  constructor(status: FetchFailure["status"], message: string, cause?: unknown) {
    super(message, [], cause);
    this.status = status;
  }
}
