/** A promise that a test settles when it likes. Node 20 has no `Promise.withResolvers`. */

export interface Deferred<Value> {
  promise: Promise<Value>;
  resolve: (value: Value) => void;
  reject: (error: Error) => void;
}

export function deferred<Value>(): Deferred<Value> {
  let settle: Omit<Deferred<Value>, "promise"> | undefined;
  const promise = new Promise<Value>((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...(settle as unknown as Omit<Deferred<Value>, "promise">) };
}
