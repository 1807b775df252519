/** Every key that works on the open page. */
import { Dialog } from "../parts/Dialog";
import { keys } from "../parts/keys";

export function Help({ onClose }: { onClose: () => void }) {
  const groups = new Map<string, Map<string, string>>();
  for (const key of keys.value) {
    // A key that means something else where the reader stands is shown as what it does there.
    if (keys.value.findLast((other) => other.keys === key.keys) !== key) continue;
    const group = groups.get(key.group) ?? new Map<string, string>();
    group.set(key.keys, key.about);
    groups.set(key.group, group);
  }
  return (
    <Dialog title="Keys" onClose={onClose}>
      {[...groups].map(([name, offered]) => (
        <section key={name}>
          <h3>{name}</h3>
          <dl class="keys">
            {[...offered].map(([key, about]) => (
              <div key={key}>
                <dt>
                  {key.split(" ").map((one) => (
                    <kbd key={one}>{one}</kbd>
                  ))}
                </dt>
                <dd>{about}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
