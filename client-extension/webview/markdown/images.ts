/** Images of the workspace in answers. One that is drawn again soon, as while its answer grows, is not read again. */

import type { ImageFile } from "../messages";

interface Reader {
  readImage: (path: string) => Promise<ImageFile>;
}

/** Milliseconds for which an image is taken for what its file holds. */
const FRESH = 10_000;

/** By path: the image's address in this page; undefined where it may not be shown. */
const read = new Map<string, { url: string | undefined } | Promise<string | undefined>>();

/** Calls `show` with an address in this page: at once where it was read just now, not at all where it may not be shown. */
export function showImage(path: string, reader: Reader, show: (url: string) => void): void {
  const known = read.get(path);
  if (known !== undefined && !(known instanceof Promise)) {
    if (known.url !== undefined) {
      show(known.url);
    }
    return;
  }
  const reading = known ?? readOnce(path, reader);
  void reading.then((url) => url !== undefined && show(url));
}

function readOnce(path: string, reader: Reader): Promise<string | undefined> {
  const reading = readNow(path, reader);
  read.set(path, reading);
  return reading;
}

async function readNow(path: string, reader: Reader): Promise<string | undefined> {
  const url = await reader.readImage(path).then(
    ({ mediaType, bytes }) => URL.createObjectURL(new Blob([Uint8Array.from(bytes)], { type: mediaType })),
    () => undefined,
  );
  read.set(path, { url });
  setTimeout(() => {
    read.delete(path);
    if (url !== undefined) {
      URL.revokeObjectURL(url); // what is shown stays shown
    }
  }, FRESH);
  return url;
}
