/** The frame around every page: where one can go, how the link stands, what keys do. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../parts/keys";
import { go, place, to } from "../parts/route";
import { toasts } from "../parts/toast";
import { locked } from "../wire/api";
import { pending } from "../wire/approvals";
import { Help } from "./Help";
import { Later } from "./Later";
import { LinkState } from "./LinkState";
import { Notify } from "./Notify";
import { isAllowed, PAGES, pageOf } from "./pages";
import { NotAllowed, ReadOnly } from "./ReadOnly";
import { nextTheme, theme } from "./theme";
import { Unlock } from "./Unlock";

export function Shell() {
  const [helping, setHelping] = useState(false);
  const offered = PAGES.filter(isAllowed);
  useKeys(
    [
      { keys: "?", about: "Show the keys", group: "Everywhere", act: () => setHelping(true) },
      { keys: "t", about: "Light, dark, or as the system has it", group: "Everywhere", act: nextTheme },
      ...offered.flatMap(({ path, menu, key }) =>
        key === null || menu === null
          ? []
          : [{ keys: `g ${key}`, about: `Open ${menu}`, group: "Everywhere", act: () => go(path) }],
      ),
    ],
    [offered.length],
  );
  if (locked.value) return <Unlock />;
  return (
    <>
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to the content
      </button>
      <Head onHelp={() => setHelping(true)} />
      <Open />
      {helping && <Help onClose={() => setHelping(false)} />}
      <Toasts />
    </>
  );
}

function Head({ onHelp }: { onHelp: () => void }) {
  const open = pageOf(place.value);
  return (
    <header class="head">
      <a class="brand" href={to("")}>
        Runwire
      </a>
      <nav aria-label="Pages">
        {PAGES.filter((page) => page.menu !== null && isAllowed(page)).map((page) => (
          <a key={page.path} href={to(page.path)} aria-current={page === open ? "page" : undefined}>
            {page.menu}
            {page.path === "approvals" && <Waiting />}
          </a>
        ))}
      </nav>
      <ReadOnly />
      <LinkState />
      <Notify />
      <button type="button" class="quiet" onClick={nextTheme} title="Light, dark, or as the system has it (t)">
        {theme.value}
      </button>
      <button type="button" class="quiet" onClick={onHelp} aria-label="Keys" title="Keys (?)">
        ?
      </button>
    </header>
  );
}

/** How many questions wait. */
function Waiting() {
  const waiting = pending.value.length;
  if (waiting === 0) return null;
  return (
    <span class="waiting">
      {waiting}
      <span class="sr-only"> waiting</span>
    </span>
  );
}

function Open() {
  const here = place.value;
  const page = pageOf(here);
  const main = useRef<HTMLElement>(null);
  const name = here.path.join("/");
  useEffect(() => {
    main.current?.focus({ preventScroll: true });
  }, [name]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {page === undefined && <NoPage />}
      {page !== undefined && (isAllowed(page) ? <Later key={page.path} page={page} place={here} /> : <NotAllowed />)}
    </main>
  );
}

function NoPage() {
  return (
    <div class="trouble" role="alert">
      <strong>There is no such page.</strong>
      <p>
        <a href={to("")}>All agents</a>
      </p>
    </div>
  );
}

function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <p key={toast.id} class={toast.level}>
          {toast.text}
        </p>
      ))}
    </div>
  );
}

function skipToMain(): void {
  document.getElementById("main")?.focus();
}
