/**
 * `node activation.cjs EXTENSION`: loads the bundled extension and activates it, with an editor that does nothing. Prints the seconds of each as JSON.
 *
 * The server's process is not started: an editor that never tells the API key stops before that.
 */

const Module = require("node:module");
const { performance } = require("node:perf_hooks");

/** Everything that the editor's API may be: a namespace, a class, a function, a value. */
const anything = new Proxy(function () {}, {
  get: (target, name) => {
    if (name === "prototype") return target.prototype;
    if (name === Symbol.toPrimitive) return () => "";
    if (name === Symbol.iterator) return () => [][Symbol.iterator]();
    // Nothing that can be waited for: what is awaited goes on at once.
    return name === "then" ? undefined : anything;
  },
  set: () => true,
  apply: () => anything,
  construct: (target, given, made) => (made === anything ? anything : Reflect.construct(target, given, made)),
});

// The bundle copies a module's own names, and looks all others up in its prototype.
const editor = Object.create(anything);
const LOAD = "_load";
const load = Module[LOAD];
Module[LOAD] = (name, ...rest) => (name === "vscode" ? editor : load(name, ...rest));

const neverAnswers = new Proxy(
  {},
  {
    get: (_, name) =>
      name === "subscriptions" ? [] : name === "secrets" ? { get: () => new Promise(() => {}), onDidChange: () => anything } : anything,
  },
);

const began = performance.now();
const extension = require(process.argv[2]);
const loaded = performance.now();
extension.activate(neverAnswers);
const activated = performance.now();
console.log(JSON.stringify({ loaded: (loaded - began) / 1000, activated: (activated - loaded) / 1000 }));
process.exit(0);
