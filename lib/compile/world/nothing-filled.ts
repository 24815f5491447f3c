import { PortolanError } from "../../base/diagnostic.ts";

/** A store that nobody has filled yet: there is nothing to compile, and nothing is wrong. */
export class NothingFilled extends PortolanError {
  constructor() {
    super("no source was filled yet");
  }
}
