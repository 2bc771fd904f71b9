/**
 * Stands in for @vscode/spdlog, which is compiled at installation, and here nothing is.
 *
 * Without it VS Code's server writes no log files, and an extension's output channel, which is one of them, stays empty.
 * Lines are written at once and files are not rotated.
 */

"use strict";

const fs = require("node:fs");
const path = require("node:path");

const LEVELS = ["trace", "debug", "info", "warning", "error", "critical"];

class Logger {
  constructor(_type, _name, file) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    this.file = file;
    this.level = LEVELS.indexOf("info");
    this.formatted = true;
  }
  trace(message) {
    this.write(0, message);
  }
  debug(message) {
    this.write(1, message);
  }
  info(message) {
    this.write(2, message);
  }
  warn(message) {
    this.write(3, message);
  }
  error(message) {
    this.write(4, message);
  }
  critical(message) {
    this.write(5, message);
  }
  getLevel() {
    return this.level;
  }
  setLevel(level) {
    this.level = level;
  }
  setPattern() {}
  clearFormatters() {
    this.formatted = false;
  }
  flush() {}
  drop() {}
  write(level, message) {
    if (level < this.level) return;
    const time = new Date().toISOString().replace("T", " ").replace("Z", "");
    const line = this.formatted ? `${time} [${LEVELS[level]}] ${message}\n` : message;
    try {
      fs.appendFileSync(this.file, line);
    } catch {
      // The folder of the logs was taken away while the server runs. A log is not worth a crash.
    }
  }
}

async function createLogger(name, file) {
  return new Logger("rotating", name, file);
}

exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = createLogger;
exports.createAsyncRotatingLogger = createLogger;
