/**
 * Runs in the page beside the panel's frame: feeds the panel with wire messages at their times, and reads off frames, nodes and delays.
 * What is fed comes from a worker, since a timer of the page itself would wait for a panel that is busy.
 */

/** Milliseconds between two pieces: 140 a second. */
const EVERY = 1000 / 140;

/** Of one answer, as the server has it (`lsp/methods.py`, `session/timeline/timeline.py`). */
const MOST_ITEMS = 10_000;
const MOST_CHARACTERS = 2_000_000;

const answers = new Map();

const probe = {
  /** Frames longer than these are counted. */
  frames: [],
  keys: [],
  watching: false,

  panel: () => document.querySelector("iframe").contentWindow,
  page: () => document.querySelector("iframe").contentDocument,
  nodes: () => probe.page().getElementsByTagName("*").length,

  send(message) {
    probe.panel().postMessage(message, "*");
  },

  /** The session of which the panel may ask for earlier items. */
  all: [],
  /** What its turns changed. */
  turns: [],

  fromPanel(message) {
    if (message.type === "request") {
      const result = answerTo(message);
      setTimeout(() => probe.send({ type: "response", id: message.id, result }), 20);
    }
  },

  watch() {
    probe.frames = [];
    probe.keys = [];
    probe.watching = true;
    let last = performance.now();
    const tick = (now) => {
      probe.frames.push(now - last);
      last = now;
      if (probe.watching) requestAnimationFrame(tick);
    };
    requestAnimationFrame((now) => {
      last = now;
      requestAnimationFrame(tick);
    });
  },

  stopWatching() {
    probe.watching = false;
    return { frames: probe.frames, keys: probe.keys, nodes: probe.nodes() };
  },

  /** Feeds pieces into a field of an item, 140 a second; settles when the last is drawn, with how long after it that was. */
  stream({ sessionId, itemId, field, pieces, seq, shown, mark }) {
    const worker = new Worker(
      URL.createObjectURL(
        new Blob([
          `let sent = 0; const began = performance.now();
           const timer = setInterval(() => {
             const due = Math.min(${pieces.length}, Math.floor((performance.now() - began) / ${EVERY}));
             while (sent < due) postMessage(sent++);
             if (sent === ${pieces.length}) clearInterval(timer);
           }, ${EVERY});`,
        ]),
      ),
    );
    return new Promise((done) => {
      worker.addEventListener("message", ({ data: index }) => {
        const update = { kind: "append", itemId, field, text: pieces[index] };
        probe.send({ type: "update", params: { sessionId, seq: seq + index, update } });
        if (index === pieces.length - 1) {
          const since = performance.now();
          const look = () => {
            const found = probe.page().querySelector(shown)?.textContent.includes(mark);
            if (found) requestAnimationFrame(() => setTimeout(() => done(performance.now() - since)));
            else setTimeout(look, 5);
          };
          look();
        }
      });
    });
  },
};

globalThis.probe = probe;

document.querySelector("textarea").addEventListener("keydown", (event) => {
  // Until the frame with the letter has been made.
  requestAnimationFrame(() => setTimeout(() => probe.keys.push(performance.now() - event.timeStamp)));
});

function answerTo({ method, params }) {
  if (method === "ullage/session/items") {
    const end = probe.all.findIndex(({ id }) => id === params.before);
    let start = end;
    let characters = 0;
    while (start > 0 && end - start < Math.min(params.limit, MOST_ITEMS) && characters <= MOST_CHARACTERS) {
      start -= 1;
      characters += (probe.all[start].text ?? probe.all[start].output ?? probe.all[start].summary).length;
    }
    return { items: probe.all.slice(start, end), earlier: start };
  }
  if (method === "ullage/session/changes") return { turns: probe.turns, open: [] };
  if (method === "ullage/session/epochs") return { epochs: [], fates: [] };
  return answers.get(method) ?? {};
}
