/** A page for tests of the panel's parts. */

import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!DOCTYPE html><body></body>");
Object.assign(globalThis, { window, document: window.document, Node: window.Node });
