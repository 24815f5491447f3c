import { useEffect, useRef } from "preact/hooks";
import { pages } from "./pages.ts";
import { placeText } from "./place.ts";

/** How long after `g` the next key counts. */
const pairMs = 1_500;

/** What keys do everywhere, and the list of them. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let goneMs = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const wasGo = Date.now() - goneMs < pairMs;
      goneMs = event.key === "g" ? Date.now() : 0;
      if (event.key === "?") dialog.current?.showModal();
      if (event.key === "/" && focusSearch()) event.preventDefault();
      const page = wasGo ? pages.find(({ key }) => key === event.key) : undefined;
      if (page !== undefined) location.hash = placeText(page.name === "" ? [] : [page.name]);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <button type="button" class="keys" onClick={() => dialog.current?.showModal()}>
        Keys <kbd>?</kbd>
      </button>
      <dialog ref={dialog} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <dl class="keylist">
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>focus the page's search</dd>
          {pages.map(({ name, title, key }) =>
            key === undefined ? null : (
              <>
                <dt key={name}>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </dt>
                <dd>{title}</dd>
              </>
            ),
          )}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;

function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>("[data-search]");
  search?.focus();
  return search !== null;
}
