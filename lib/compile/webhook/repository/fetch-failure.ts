import { PortolanError } from "../../../config/diagnostic.ts";

/** A repository that was not fetched: the source is as it was, and the delivery may be made again. */
export class FetchFailure extends PortolanError {
  /** 422: what the repository holds cannot be taken; 502 and 504: its host; 503: a later attempt may do. */
  readonly status: 422 | 502 | 503 | 504;

  constructor(status: FetchFailure["status"], message: string, cause?: unknown) {
    super(message, [], cause);
    this.status = status;
  }
}
